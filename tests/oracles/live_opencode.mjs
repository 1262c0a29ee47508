// dependencies: opencode-ai@1.18.33
// opencode itself, against a scripted model: several turns, of which some reach its limit. It prints what scripted_model.mjs says.

import { chatItems, live, Script } from "./scripted_model.mjs";

const LIMIT = { context: 30_000, output: 4_000 };

const turn = (number, calls, last = "Done.") => ({ typed: `Turn ${number}: print the next numbers.`, calls, last });
const SCRIPT = new Script(
  // The limit is reached inside of a turn, and by the last text of another.
  [turn(1, 5), turn(2, 6), turn(3, 3, "Done, and here is what I saw. ".repeat(800)), turn(4, 4)],
  (n) => ["bash", { command: `printf 'line ${n} %s\\n' $(seq ${n * 100} ${n * 100 + 600})`, description: "Prints numbers" }],
);

const config = (url) => ({
  model: "scripted/scripted",
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: url, apiKey: "none" },
      models: { scripted: { limit: LIMIT } },
    },
  },
  permission: "allow",
  snapshot: false,
  autoupdate: false,
  share: "disabled",
});

await live({
  name: "opencode-ai",
  // The program in `opencode-ai` itself is put there by its installation script, which is not run.
  program: `opencode-${process.platform}-${process.arch}/bin/opencode`,
  settings: { window: LIMIT.context, max_output: LIMIT.output },
  script: SCRIPT,
  async turn({ path, place, base, typed, first }) {
    const variables = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config(base)), OPENCODE_DISABLE_MODELS_FETCH: "1" };
    await place.run(path, ["run", "--pure", ...(first ? ["--title", "scripted"] : ["--continue"]), typed], variables);
  },
  async session({ path, place }) {
    const [{ id }] = JSON.parse(await place.run(path, ["session", "list", "--pure", "--format", "json"], {}));
    // What it writes to a pipe may end in the middle.
    return place.run("sh", ["-c", '"$0" export "$1" --pure >export.json && cat export.json', path, id], {});
  },
  toItems: chatItems,
});

// dependencies: opencode-ai@1.18.33
// opencode itself, against a scripted model: several turns, of which some reach its limit. It prints what scripted_model.mjs says.

import { crowds, forks, printing, troubles } from "./scripts.mjs";
import { NOTES, PICTURE, chatItems, live, Script } from "./scripted_model.mjs";

const LIMIT = { context: 30_000, output: 4_000 };

const shell = (command) => ["bash", { command, description: "Prints numbers" }];
const read = (filePath) => ["read", { filePath }];
const print = printing(shell, 600);
const typed = (turn) => `Turn ${turn}: print the next numbers.`;

const TURNS = {
  // The limit is reached inside of a turn, and by the last text of another.
  run: () => [print(typed(1), 5), print(typed(2), 6), print(typed(3), 3, "Done, and here is what I saw. ".repeat(800)), print(typed(4), 4)],
  troubles: () => troubles(shell, read),
  forks: () => forks(print),
  crowds: () => crowds(print),
};

const config = (url) => ({
  model: "scripted/scripted",
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: url, apiKey: "none" },
      models: { scripted: { limit: LIMIT, attachment: true, modalities: { input: ["text", "image"], output: ["text"] } } },
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
  script: new Script(TURNS[process.argv[2]]?.() ?? []),
  async turn({ path, place, base, typed, first, fork, attach }) {
    const variables = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config(base)), OPENCODE_DISABLE_MODELS_FETCH: "1" };
    const resume = first ? ["--title", "scripted"] : ["--continue", ...(fork ? ["--fork"] : [])];
    const files = attach ? [PICTURE, NOTES].flatMap((file) => ["--file", file]) : [];
    await place.run(path, ["run", "--pure", ...resume, typed, ...files], variables);
  },
  async session({ path, place }) {
    const [{ id }] = JSON.parse(await place.run(path, ["session", "list", "--pure", "--format", "json"], {}));
    // What it writes to a pipe may end in the middle.
    return place.run("sh", ["-c", '"$0" export "$1" --pure >export.json && cat export.json', path, id], {});
  },
  toItems: chatItems,
});

// dependencies: @openai/codex@0.169.0
// Codex CLI itself, against a scripted model: several turns, of which some end near its limit. It prints what scripted_model.mjs says.

import { join } from "node:path";

import { installed, live, Script } from "./scripted_model.mjs";

// The program itself is in a package for each platform.
installed(`@openai/codex-${process.platform}-${process.arch}/package.json`);

const [WINDOW, WORDS] = { short: [40_000, 30], long: [80_000, 4_000] }[process.argv[2]] ?? [];

const words = (turn) => Array.from({ length: WORDS ?? 0 }, (_, n) => ` w${turn}-${n}`).join("");
const typed = (turn) => `Turn ${turn}: print the next numbers.${words(turn)}`;
const turn = (number, calls, last = "Done.") => ({ typed: typed(number), calls, last });
const SCRIPT = new Script(
  // The limit is crossed inside of turns, and by the last text of one.
  [turn(1, 9), turn(2, 11), turn(3, 12, "Done, and here is what I saw. ".repeat(900)), turn(4, 13), turn(5, 5)],
  (n) => ["exec_command", { cmd: `printf 'line ${n} %s\\n' $(seq ${n * 100} ${n * 100 + 400})` }],
);

const config = (url) => `
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
model_context_window = ${WINDOW}
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "${url}"
wire_api = "responses"
`;

await live({
  name: "@openai/codex",
  program: "@openai/codex/bin/codex.js",
  settings: { window: WINDOW, max_output: 0 },
  script: SCRIPT,
  async turn({ path, place, base, typed, first }) {
    const folder = join(place.home, ".codex");
    if (first) place.write(".codex/config.toml", config(base));
    const resume = first ? [] : ["resume", "--last"];
    await place.run(process.execPath, [path, "exec", ...resume, "--skip-git-repo-check", typed], { CODEX_HOME: folder });
  },
  session: ({ place }) => place.transcript(".codex/sessions"),
  toItems({ input }) {
    // The first message is the system prompt, which a rollout has in its first line.
    return input.slice(1).flatMap((item) => {
      if (item.type === "function_call") return [["assistant", "", [[item.call_id, item.name, JSON.parse(item.arguments)]]]];
      if (item.type === "function_call_output") return [["result", item.call_id, item.output]];
      if (item.role === "assistant") return [["assistant", item.content.map((part) => part.text).join(""), []]];
      return item.content.map((part) => ["user", part.text]);
    });
  },
});

// dependencies: @openai/codex@0.169.0
// Codex CLI itself, against a scripted model: several turns, of which some end near its limit. It prints what scripted_model.mjs says.

import { join } from "node:path";

import { crowds, forks, printing, troubles } from "./scripts.mjs";
import { PICTURE, installed, live, partText, Script } from "./scripted_model.mjs";

// The program itself is in a package for each platform.
installed(`@openai/codex-${process.platform}-${process.arch}/package.json`);

const shell = (cmd) => ["exec_command", { cmd }];
const print = printing(shell, 400);

/** The limit is crossed inside of turns, and by the last text of one. */
const crossing = (words) => {
  const typed = (turn) => `Turn ${turn}: print the next numbers.${Array.from({ length: words }, (_, n) => ` w${turn}-${n}`).join("")}`;
  const long = "Done, and here is what I saw. ".repeat(900);
  return [print(typed(1), 9), print(typed(2), 11), print(typed(3), 12, long), print(typed(4), 13), print(typed(5), 5)];
};

const [WINDOW, TURNS] =
  {
    short: [40_000, () => crossing(30)],
    long: [80_000, () => crossing(4_000)],
    troubles: [80_000, () => troubles(shell, (file) => shell(`cat ${file}`))],
    crowds: [40_000, () => crowds(print)],
    forks: [40_000, () => forks(print)],
  }[process.argv[2]] ?? [];

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
  script: new Script(TURNS?.() ?? []),
  async turn({ path, place, base, typed, first, fork, attach }) {
    const folder = join(place.home, ".codex");
    if (first) place.write(".codex/config.toml", config(base));
    const parent = () => place.session(".codex/sessions", /[0-9a-f-]{36}(?=\.jsonl$)/);
    const resume = first ? [] : fork ? ["fork", parent()] : ["resume", "--last"];
    const options = ["--skip-git-repo-check", ...(attach ? ["--image", PICTURE, "--"] : [])];
    await place.run(process.execPath, [path, "exec", ...resume, ...options, typed], { CODEX_HOME: folder });
  },
  session: ({ place, count }) => place.transcripts(".codex/sessions", count),
  toItems({ input }) {
    // The first message is the system prompt, which a rollout has in its first line.
    return input.slice(1).flatMap((item) => {
      if (item.type === "function_call") return [["assistant", "", [[item.call_id, item.name, JSON.parse(item.arguments)]]]];
      if (item.type === "function_call_output") return [["result", item.call_id, [item.output].flat().map(partText).join("")]];
      if (item.role === "assistant") return [["assistant", item.content.map((part) => part.text).join(""), []]];
      return item.content.map((part) => ["user", partText(part)]);
    });
  },
});

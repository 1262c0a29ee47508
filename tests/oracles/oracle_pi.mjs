// dependencies: @earendil-works/pi-coding-agent@0.87.1
// pi's compaction before an answer: its own session, estimate, limit and cut. The summary is a fixed text: pi makes one of two
// where it cuts inside of a turn, and what a summary says is not compared.

import { items, load, serve } from "./recordings.mjs";

const PACKAGE = "@earendil-works/pi-coding-agent";
const { SessionManager } = await load(`${PACKAGE}/dist/core/session-manager.js`);
const compaction = await load(`${PACKAGE}/dist/core/compaction/compaction.js`);

const VARIANTS = {
  "100k-20k": { window: 100_000 + 16_384, keepRecentTokens: 20_000 },
  "12k-2k": { window: 12_000 + 16_384, keepRecentTokens: 2_000 },
};

const text = (text) => [{ type: "text", text }];

function toMessage(item) {
  switch (item[0]) {
    case "user":
      return { role: "user", content: text(item[1]) };
    case "result":
      return { role: "toolResult", toolCallId: item[1], content: text(item[2]) };
    default: {
      const calls = item[2].map(([id, name, input]) => ({ type: "toolCall", id, name, arguments: input }));
      return { role: "assistant", content: [...text(item[1]), ...calls], stopReason: calls.length ? "toolUse" : "stop" };
    }
  }
}

function toItem({ role, content, summary, toolCallId }) {
  if (role === "compactionSummary") return ["user", summary];
  const texts = content.map((part) => part.text ?? "").join("");
  if (role === "user") return ["user", texts];
  if (role === "toolResult") return ["result", toolCallId, texts];
  const calls = content.filter((part) => part.type === "toolCall");
  return ["assistant", texts, calls.map((call) => [call.id, call.name, call.arguments])];
}

class Session {
  manager = SessionManager.inMemory(process.cwd());

  constructor({ window, keepRecentTokens }) {
    this.window = window;
    this.settings = { ...compaction.DEFAULT_COMPACTION_SETTINGS, keepRecentTokens };
  }

  request(messages) {
    for (const item of messages.flatMap(items)) this.manager.appendMessage({ ...toMessage(item), timestamp: 0 });
    const estimate = () =>
      compaction.estimateProjectedContextTokens(this.manager.buildSessionProjection(), this.manager.getBranch()).tokens;
    if (compaction.shouldCompact(estimate(), this.window, this.settings)) {
      const preparation = compaction.prepareCompaction(this.manager.getBranch(), this.settings);
      if (preparation) this.manager.appendCompaction("SUMMARY", preparation.firstKeptEntryId, preparation.tokensBefore);
    }
    return [this.manager.buildSessionProjection().messages.map(toItem), estimate()];
  }
}

await serve((variant) => new Session(VARIANTS[variant]), PACKAGE);

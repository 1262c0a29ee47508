// dependencies: ai@7.0.173
// `pruneMessages` of Vercel's AI SDK.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { items, serve } from "./recordings.mjs";

const require = createRequire(`${process.cwd()}/`);
const { pruneMessages } = await import(pathToFileURL(require.resolve("ai")));

const VARIANTS = {
  "before-last-2": { toolCalls: "before-last-2-messages" },
  "before-last-message": { toolCalls: "before-last-message" },
  "before-last-9": { toolCalls: "before-last-9-messages" },
};

/** A recorded message as messages of the SDK: the results of a batch are one, and the texts beside them another. */
function toModelMessages(message) {
  const messages = [];
  for (const [kind, ...item] of items(message)) {
    if (kind === "result") {
      const [toolCallId, value] = item;
      const result = { type: "tool-result", toolCallId, toolName: "", output: { type: "text", value } };
      if (messages.at(-1)?.role === "tool") messages.at(-1).content.push(result);
      else messages.push({ role: "tool", content: [result] });
    } else if (kind === "user") messages.push({ role: "user", content: item[0] });
    else {
      const hasText = message.content.some((part) => "text" in part);
      const calls = item[1].map(([toolCallId, toolName, input]) => ({ type: "tool-call", toolCallId, toolName, input }));
      messages.push({ role: "assistant", content: [...(hasText ? [{ type: "text", text: item[0] }] : []), ...calls] });
    }
  }
  return messages;
}

function toItems({ role, content }) {
  if (role === "user") return [["user", content]];
  if (role === "tool") return content.map((part) => ["result", part.toolCallId, part.output.value]);
  const text = content.filter((part) => part.type === "text").map((part) => part.text).join("");
  const calls = content.filter((part) => part.type === "tool-call");
  return [["assistant", text, calls.map((part) => [part.toolCallId, part.toolName, part.input])]];
}

class Pruning {
  history = [];

  constructor(settings) {
    this.settings = settings;
  }

  request(messages) {
    this.history.push(...messages.flatMap(toModelMessages));
    return [pruneMessages({ messages: this.history, ...this.settings }).flatMap(toItems), null];
  }
}

await serve((variant) => new Pruning(VARIANTS[variant]), "ai");

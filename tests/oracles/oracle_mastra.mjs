// dependencies: @mastra/core@1.71.0
// Mastra's `ToolCallFilter`, on the prompts that its agents send.

import { items, load, serve } from "./recordings.mjs";

const { ToolCallFilter } = await load("@mastra/core/dist/processors/index.js");

/** A recorded message as messages of the prompt: the results of a batch are one, and the texts beside them another. */
function toPrompt(message) {
  const prompt = [];
  for (const [kind, ...item] of items(message)) {
    if (kind === "result") {
      const [toolCallId, value] = item;
      const result = { type: "tool-result", toolCallId, toolName: "", output: { type: "text", value } };
      if (prompt.at(-1)?.role === "tool") prompt.at(-1).content.push(result);
      else prompt.push({ role: "tool", content: [result] });
    } else if (kind === "user") prompt.push({ role: "user", content: [{ type: "text", text: item[0] }] });
    else {
      const hasText = message.content.some((part) => "text" in part);
      const calls = item[1].map(([toolCallId, toolName, input]) => ({ type: "tool-call", toolCallId, toolName, input }));
      prompt.push({ role: "assistant", content: [...(hasText ? [{ type: "text", text: item[0] }] : []), ...calls] });
    }
  }
  return prompt;
}

function toItems({ role, content }) {
  if (role === "user") return [["user", content[0].text]];
  if (role === "tool") return content.map((part) => ["result", part.toolCallId, part.output.value]);
  const text = content.filter((part) => part.type === "text").map((part) => part.text).join("");
  const calls = content.filter((part) => part.type === "tool-call");
  return [["assistant", text, calls.map((part) => [part.toolCallId, part.toolName, part.input])]];
}

/** A run begins with what the user writes, and has a state of its own. */
class Filtering {
  prompt = [];
  state = {};

  constructor(settings) {
    this.filter = new ToolCallFilter(settings);
  }

  async request(messages) {
    const added = messages.flatMap(toPrompt);
    if (added.some(({ role }) => role === "user")) this.state = {};
    this.prompt.push(...added);
    const filtered = await this.filter.processLLMRequest({ prompt: this.prompt, state: this.state });
    return [(filtered?.prompt ?? this.prompt).flatMap(toItems), null];
  }
}

await serve(() => new Filtering(), "@mastra/core");

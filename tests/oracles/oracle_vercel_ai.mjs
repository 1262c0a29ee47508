// dependencies: ai@7.0.173
// `pruneMessages` of Vercel's AI SDK. It reads and writes what recordings.py says.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const { pruneMessages } = await import(pathToFileURL(require.resolve("ai")));

const VARIANTS = {
  "before-last-2": { toolCalls: "before-last-2-messages" },
  "before-last-message": { toolCalls: "before-last-message" },
  "before-last-9": { toolCalls: "before-last-9-messages" },
};

/** A recorded message as messages of the SDK: the results of a batch are one, and the texts beside them another. */
function toModelMessages({ role, content }) {
  if (role === "assistant") {
    const texts = content.filter((part) => "text" in part);
    const text = texts.map((part) => part.text).join("");
    const calls = content.filter((part) => "name" in part);
    const called = calls.map(({ id, name, input }) => ({ type: "tool-call", toolCallId: id, toolName: name, input }));
    return [{ role, content: [...(texts.length ? [{ type: "text", text }] : []), ...called] }];
  }
  const messages = [];
  for (const part of content) {
    const last = messages.at(-1);
    if ("result" in part) {
      const result = { type: "tool-result", toolCallId: part.id, toolName: "", output: { type: "text", value: part.result } };
      if (last?.role === "tool") last.content.push(result);
      else messages.push({ role: "tool", content: [result] });
    } else if (last?.role === "user") last.content += part.text;
    else messages.push({ role: "user", content: part.text });
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

if (process.argv[2] === "--version") {
  const manifest = JSON.parse(readFileSync(`${process.cwd()}/node_modules/ai/package.json`, "utf8"));
  console.log(`ai ${manifest.version}`);
  process.exit();
}
const settings = VARIANTS[process.argv[2]];
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const history = [];
  let before = [];
  for (const call of JSON.parse(line).calls) {
    history.push(...call.flatMap(toModelMessages));
    const request = pruneMessages({ messages: history, ...settings }).flatMap(toItems).map((item) => JSON.stringify(item));
    let shared = 0;
    while (shared < Math.min(before.length, request.length) && before[shared] === request[shared]) shared += 1;
    process.stdout.write(`{"shared":${shared},"then":[${request.slice(shared).join(",")}],"estimate":null}\n`);
    before = request;
  }
}

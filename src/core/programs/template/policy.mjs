// A policy for recompact: of all results of tools, only the newest three keep their text.
// It reads one line of JSON before each recorded call, and answers with one line. `recompact guide programs` has all fields.
import { createInterface } from "node:readline";

// Takes the messages of a request and returns those to send. What it returns as it was keeps its id.
function policy(messages) {
  const old = new Set(messages.filter((message) => message.role === "tool").slice(0, -3));
  const isDue = (message) => old.has(message) && message.content !== "[cleared]";
  return messages.map((message) => (isDue(message) ? { ...message, content: "[cleared]" } : message));
}

let messages = [];
let inserted = [];
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.type === "start") {
    [messages, inserted] = [[], []];
    console.log(JSON.stringify({ protocol: 1, shape: "openai" }));
    continue;
  }
  request.inserted.forEach((id, nth) => (inserted[nth].id = id));
  const changed = new Map(request.changed.map((message) => [message.id, message]));
  messages = messages.filter((message) => !request.gone.includes(message.id));
  messages = messages.map((message) => changed.get(message.id) ?? message).concat(request.messages);
  const known = new Set(messages);
  const kept = policy(messages);
  const listed = kept.map((message) => (known.has(message) ? message.id : message));
  console.log(JSON.stringify({ call: request.call, messages: listed }));
  inserted = kept.filter((message) => message.id === undefined && !message.replaces?.length);
  messages = kept.map(({ replaces, ...message }) => (replaces?.length ? { ...message, id: replaces[0] } : message));
  inserted = inserted.map((message) => messages[kept.indexOf(message)]);
}

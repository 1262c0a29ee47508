// Recordings as recompact's test writes them, and requests as it reads them: recordings.py says what the lines are.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

/** A file of a package that is installed where the driver runs, as a module. */
export const load = (file) => import(pathToFileURL(`${process.cwd()}/node_modules/${file}`));

/** The items of a recorded message: what a harness would store apart, with each result alone. */
export function items({ role, content }) {
  if (role === "assistant") {
    const text = content.map((part) => part.text ?? "").join("");
    const calls = content.filter((part) => "name" in part).map((part) => [part.id, part.name, part.input]);
    return [["assistant", text, calls]];
  }
  const found = [];
  let before = null;
  for (const part of content) {
    if ("result" in part) found.push(["result", part.id, part.result]);
    else if (before && !("result" in before)) found.at(-1)[1] += part.text;
    else found.push(["user", part.text]);
    before = part;
  }
  return found;
}

/**
 * Answers every recorded conversation. `start(variant)` makes a harness; its `request(messages)` takes the messages that are new with a
 * call, and returns the items of the request and the harness's own estimate of it, or null. `name` is the package that is asked.
 */
export async function serve(start, name) {
  if (process.argv[2] === "--version") {
    const { version } = JSON.parse(readFileSync(`${process.cwd()}/node_modules/${name}/package.json`, "utf8"));
    console.log(`${name} ${version}`);
    return;
  }
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const harness = start(process.argv[2]);
    let before = [];
    for (const call of JSON.parse(line).calls) {
      const [request, estimate] = await harness.request(call);
      const then = request.map((item) => JSON.stringify(item));
      let shared = 0;
      while (shared < Math.min(before.length, then.length) && before[shared] === then[shared]) shared += 1;
      process.stdout.write(`{"shared":${shared},"then":[${then.slice(shared).join(",")}],"estimate":${estimate}}\n`);
      before = then;
    }
  }
}

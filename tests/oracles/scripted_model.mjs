// A model on the loopback that says what a script says, and a place in which a program may run with it: a temporary folder, and no
// network but this model. It speaks OpenAI's Responses and chat completions, both as streams.
//
// Between the program and the model is `recompact record`. A live driver prints one line of JSON for the run, {"window", "max_output",
// "session", "ancestors", "log"}: the settings that the program ran with, the transcript that it wrote, or null, those in which its history
// begins, the parent's first, and what `recompact record` wrote. Then one line for each real request, in order: {"shared", "then", "summary", "failed", "said"}. Items are those of recordings.py, but each text
// of a user message is one. `summary` says whether the request wants a summary, `failed` whether it got an error or half an answer, `said`
// is the answer as an item.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const SUMMARY = "The numbers were printed up to here. What is left: to print the next ones.";

const tokensOf = (text) => Math.ceil(Buffer.byteLength(text) / 4);

/** What the model says: the turns of a user, each with the answers of the model. */
export class Script {
  /**
   * `turns`: [{typed, says, …}, …]; the rest of a turn is for the driver. `says`: [answer, …], where an answer is {text, calls} with
   * calls as [[name, input], …], {status} for an error of HTTP, or {text, cut: true} for a stream that ends in the middle of the text.
   * The last answer is given again if it is asked for. `wantsSummary(body)`: whether a request wants `summary`. Most programs offer no
   * tools then.
   */
  constructor(turns, { summary = SUMMARY, wantsSummary = ({ tools }) => !tools?.length } = {}) {
    Object.assign(this, { turns, summary, wantsSummary, turn: -1, left: [], calls: 0 });
  }

  /** Begins the next turn, and returns it; undefined at the end. */
  next() {
    if (this.left.length > 1) throw new Error(`turn ${this.turn + 1}: answers were not asked for: ${JSON.stringify(this.left)}`);
    this.turn += 1;
    this.left = [...(this.turns[this.turn]?.says ?? [])];
    return this.turns[this.turn];
  }

  /** The answer, with a text and calls with ids. */
  answer(body) {
    if (this.wantsSummary(body)) return { text: this.summary, calls: [] };
    const { text = "", calls = [], ...rest } = this.left.length > 1 ? this.left.shift() : this.left[0];
    return { text, calls: calls.map((call) => [`call_${(this.calls += 1)}`, ...call]), ...rest };
  }
}

/** Events of the Responses API. */
function* responses(text, calls, input, output) {
  const message = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text }] };
  const toItem = ([id, name, args]) => ({ type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: JSON.stringify(args) });
  const items = [...(text || !calls.length ? [message] : []), ...calls.map(toItem)];
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  yield { type: "response.created", response: { id: "resp_1" } };
  for (const [output_index, item] of items.entries()) yield { type: "response.output_item.done", output_index, item };
  yield { type: "response.completed", response: { id: "resp_1", usage } };
}

/** Chunks of chat completions. */
function* chat(text, calls, input, output) {
  const chunk = (choices, rest) => ({ id: "chat_1", object: "chat.completion.chunk", choices, ...rest });
  const toFunction = (name, args) => ({ name, arguments: JSON.stringify(args) });
  const called = calls.map(([id, name, args], index) => ({ index, id, type: "function", function: toFunction(name, args) }));
  const spoken = text || !calls.length ? { content: text } : {};
  const delta = { role: "assistant", ...spoken, ...(calls.length ? { tool_calls: called } : {}) };
  yield chunk([{ index: 0, delta, finish_reason: null }]);
  yield chunk([{ index: 0, delta: {}, finish_reason: calls.length ? "tool_calls" : "stop" }]);
  yield chunk([], { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } });
}

/** The text of a part of a message; of a picture, what the test says of it. */
export const partText = (part) =>
  part.image_url ? `[picture of ${(part.image_url.url ?? part.image_url).split(",")[1].length} characters]` : (part.text ?? part);

/** The items of a request for a chat completion, without the system prompt. */
export function chatItems({ messages }) {
  const text = (content) => (typeof content === "string" ? content : (content ?? []).map(partText).join(""));
  const said = messages.filter(({ role }) => role !== "system" && role !== "developer");
  return said.map(({ role, content, tool_calls, tool_call_id }) => {
    if (role === "tool") return ["result", tool_call_id, text(content)];
    if (role === "user") return ["user", text(content)];
    const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => [id, name, JSON.parse(args)]);
    return ["assistant", text(content), calls];
  });
}

const DIALECTS = { "/v1/responses": responses, "/v1/chat/completions": chat };

/** Starts the model. `requests` gets {body, summary, failed, said} for each request. */
export async function serve(script) {
  const requests = [];
  const server = createServer((request, response) => {
    const speak = DIALECTS[request.url.split("?")[0]];
    if (request.method !== "POST" || !speak) return response.writeHead(404).end();
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const raw = Buffer.concat(parts).toString();
      const body = JSON.parse(raw);
      const { text, calls, status, cut } = script.answer(body);
      const [tokens, output] = [tokensOf(raw), tokensOf(text) + tokensOf(JSON.stringify(calls))];
      const failed = Boolean(status || cut);
      requests.push({ body, summary: script.wantsSummary(body), failed, said: ["assistant", text, calls] });
      if (status) {
        const error = { message: "The scripted model fails.", type: "scripted", code: "scripted" };
        return response.writeHead(status, { "content-type": "application/json", "retry-after": "0" }).end(JSON.stringify({ error }));
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      const lines = [...speak(text, calls, tokens, output)].map(
        (event) => `event: ${event.type ?? "message"}\ndata: ${JSON.stringify(event)}\n\n`,
      );
      // The last event says that the answer is whole.
      if (cut) return response.write(lines[0], () => response.destroy());
      response.write(lines.join(""));
      response.end(speak === chat ? "data: [DONE]\n\n" : "");
    });
  });
  // The model is also the proxy for everything else, and lets nothing through.
  server.on("connect", (_, socket) => {
    socket.on("error", () => socket.destroy());
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { server, requests, url: `http://127.0.0.1:${server.address().port}` };
}

/** Starts `recompact record` before the model; `base` is the base URL that the program gets. */
async function record(model, log) {
  const to = ["--to", `openai=${model.url}/v1`];
  const recorder = spawn(process.env.RECOMPACT_PROGRAM, ["record", ...to, "--listen", "0", "--out", log]);
  const ended = new Promise((done) => recorder.on("close", done));
  let said = "";
  const base = await new Promise((found, failed) => {
    recorder.stderr.on("data", (part) => {
      said += part;
      const [, url] = said.match(/base URL (\S+),/) ?? [];
      if (url) found(url);
    });
    ended.then(() => failed(new Error(said)));
  });
  const end = async () => {
    recorder.kill("SIGINT");
    if ((await ended) !== 0) throw new Error(said);
    return readFileSync(log, "utf8");
  };
  return { base, end };
}

/** Files in the working directory of each place, for turns that attach some. */
export const [PICTURE, NOTES] = ["picture.png", "notes.txt"];

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A temporary folder with a home and a working directory of its own, and programs that run in it. */
export class Place {
  constructor(model) {
    this.folder = mkdtempSync(join(tmpdir(), "recompact-live-"));
    [this.home, this.work] = ["home", "work"].map((name) => join(this.folder, name));
    [this.home, this.work].forEach((folder) => mkdirSync(folder));
    writeFileSync(join(this.work, PICTURE), Buffer.from(PNG, "base64"));
    writeFileSync(join(this.work, NOTES), "The numbers begin at 100.\nThey end at 500.\n");
    const xdg = ["CONFIG", "DATA", "CACHE", "STATE"].map((kind) => [`XDG_${kind}_HOME`, join(this.home, kind.toLowerCase())]);
    this.environment = {
      PATH: process.env.PATH,
      HOME: this.home,
      TMPDIR: this.folder,
      TZ: "UTC",
      LANG: "C.UTF-8",
      ...Object.fromEntries(xdg),
      ...Object.fromEntries(["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map((name) => [name, model.url])),
      NO_PROXY: "127.0.0.1",
      no_proxy: "127.0.0.1",
    };
  }

  /** Writes a file in the home. */
  write(file, text) {
    const path = join(this.home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** The transcripts (*.jsonl) below a folder of the home, `count` of them, the one that was written last at the end: each fork writes one. */
  transcripts(folder, count) {
    const path = join(this.home, folder);
    const files = readdirSync(path, { recursive: true }).filter((file) => file.endsWith(".jsonl"));
    if (files.length !== count) throw new Error(`${count} transcripts were expected: ${files}`);
    const written = (file) => statSync(join(path, file)).mtimeMs;
    return files.sort((one, other) => written(one) - written(other)).map((file) => readFileSync(join(path, file), "utf8"));
  }

  /** The last of these, which also has what its parent said. */
  transcript(folder, count) {
    return this.transcripts(folder, count).at(-1);
  }

  /** The id of the only session below a folder of the home, which the names of its transcripts say. */
  session(folder, id) {
    const files = readdirSync(join(this.home, folder), { recursive: true }).filter((file) => id.test(file));
    if (files.length !== 1) throw new Error(`one transcript was expected: ${files}`);
    return files[0].match(id)[0];
  }

  /** Runs a program to its end, and returns what it printed. */
  async run(program, args, variables) {
    const child = spawn(program, args, { cwd: this.work, env: { ...this.environment, ...variables }, timeout: 120_000 });
    child.stdin.end();
    let [output, errors] = ["", ""];
    child.stdout.on("data", (part) => (output += part));
    child.stderr.on("data", (part) => (errors += part));
    const code = await new Promise((ended, failed) => child.on("close", ended).on("error", failed));
    if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code}: ${errors.slice(-2000)}`);
    return output;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The file of an installed package; ends with code 77 if it is not there. */
export function installed(file) {
  const path = join(process.cwd(), "node_modules", file);
  if (existsSync(path)) return path;
  console.error(`${file} is not installed in ${process.cwd()}`);
  process.exit(77);
}

/** The program of Node.js: this one if it has this version, or that of an installed package. */
export function node(version) {
  const [own] = process.versions.node.split(".").map(Number);
  return own >= version ? process.execPath : installed(`node-${process.platform}-${process.arch}/bin/node`);
}

/** Prints the run. `toItems(body)` are the items of a request without the system prompt. */
function print(settings, requests, toItems) {
  console.log(JSON.stringify(settings));
  let before = [];
  for (const { body, summary, failed, said } of requests) {
    const items = toItems(body);
    const request = items.map((item) => JSON.stringify(item));
    let shared = 0;
    while (shared < Math.min(before.length, request.length) && before[shared] === request[shared]) shared += 1;
    console.log(JSON.stringify({ shared, then: items.slice(shared), summary, failed, said }));
    before = request;
  }
}

/** Runs a program through all turns of a script, and prints the run. `package` names it, `file` is the program in it. */
export async function live({ name, program, settings, script, turn, session, toItems }) {
  const path = installed(program);
  if (process.argv[2] === "--version") {
    const manifest = installed(`${name}/package.json`);
    console.log(`${name} ${JSON.parse(readFileSync(manifest, "utf8")).version}`);
    return;
  }
  const model = await serve(script);
  const place = new Place(model);
  const recorder = await record(model, join(place.folder, "requests.jsonl"));
  try {
    for (let next = script.next(); next !== undefined; next = script.next()) {
      await turn({ path, place, base: recorder.base, first: script.turn === 0, ...next });
    }
    const log = await recorder.end();
    const count = 1 + script.turns.filter(({ fork }) => fork).length;
    const written = [await session({ path, place, count })].flat();
    print({ ...settings, session: written.at(-1), ancestors: written.slice(0, -1).reverse(), log }, model.requests, toItems);
  } finally {
    model.server.close();
    model.server.closeAllConnections();
    place.remove();
  }
}

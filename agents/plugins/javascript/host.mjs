// Runs plugins and tools that were written for OpenCode, for the server that has started this. A message is a line of JSON:
// what the server asks comes on the standard input with an `id`, its answer goes to descriptor 3 with the same one. What is
// printed here goes to the standard error. Ends with its input.
import { writeSync } from "node:fs";
import { register } from "node:module";
import { basename, extname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { shell } from "./shell.mjs";

process.chdir(process.argv[2]); // where plugins are: Bun, which started elsewhere, takes no orders from there
if (!globalThis.Bun) register("./resolve.mjs", import.meta.url);

const CHANNEL = 3;
const SERVER = "http://opencode-web.invalid"; // what is asked of it goes another way
const plugins = new Map(); // id -> { hooks: what its functions gave, tools: by name }
const calls = new Map(); // id of a call that runs -> { abort, asked: questions that wait for their answer }
let numbers = 0; // of questions and requests

function say(message) {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let sent = 0; sent < line.length; ) sent += writeSync(CHANNEL, line, sent);
}

const isTool = (value) => typeof value?.execute === "function" && typeof value.description === "string";

// Of a file: the functions that make hooks, each once. A module may say which one is for the server.
function makers(module) {
  if (typeof module.default?.server === "function") return [module.default.server];
  return [...new Set(Object.values(module))].filter((value) => typeof value === "function");
}

// Tools have the name of their file, and of their export where that is not the default one.
function exported(module, file) {
  const stem = basename(file, extname(file));
  const found = Object.entries(module).filter(([, value]) => isTool(value));
  return Object.fromEntries(found.map(([name, value]) => [name === "default" ? stem : `${stem}_${name}`, value]));
}

// A file may export functions of other uses, which are called as well: what they give is no hooks.
const hooksOf = (given, input) => (typeof given === "object" && given && given !== input && !Array.isArray(given) ? given : {});

async function load({ plugin, file, packages, kind, place, options = {}, again = 0 }) {
  const found = await import(`${pathToFileURL(file)}${again ? `?${again}` : ""}`); // what was not found is remembered
  const module = kind === "package" ? found.default : found;
  const tools = kind === "tool" ? exported(module, file) : {};
  const hooks = [];
  if (kind !== "tool") {
    const made = makers(module);
    if (!made.length) throw new TypeError("it exports no function");
    const input = { ...place, client: await client(packages, place.directory), serverUrl: new URL(SERVER), $: globalThis.Bun?.$ ?? shell(place.directory) };
    for (const make of made) hooks.push(hooksOf(await make(input, options), input));
    for (const { tool } of hooks) Object.assign(tools, tool);
  } else if (!Object.keys(tools).length) throw new TypeError("it exports no tool");
  const auths = hooks.flatMap(({ auth }) => auth ?? []);
  const providers = hooks.flatMap(({ provider }) => (has(provider?.models) ? provider : []));
  plugins.set(plugin, { packages, hooks, tools, auths, providers });
  const names = hooks.flatMap((each) => Object.keys(each).filter((name) => has(each[name])));
  const shown = Object.entries(tools).map(async ([name, tool]) => ({ name, description: tool.description, parameters: await described(tool.args, packages) }));
  return { hooks: [...new Set(names)].filter((name) => name !== "dispose"), tools: await Promise.all(shown), auths: auths.map(signs), providers: providers.map(({ id }) => ({ id })) };
}

// Requests to the server go the way everything does, and need no address and no password.
const requests = new Map(); // number -> what waits for its answer

async function request(address, how) {
  const asked = address instanceof Request ? address : new Request(address, how);
  const number = ++numbers;
  const { method, url, headers, signal } = asked;
  const { pathname, search } = new URL(url);
  const body = Buffer.from(await asked.arrayBuffer()).toString("base64");
  const answer = new Promise((begun, failed) => requests.set(number, { begun, failed }));
  say({ request: number, method, path: pathname, query: search.slice(1), headers: [...headers], body });
  signal?.addEventListener("abort", () => {
    requests.get(number)?.failed?.(signal.reason);
    requests.get(number)?.stream?.error(signal.reason);
    requests.delete(number);
    say({ dropped: number });
  });
  return answer;
}

// Not all of the SDK uses the `fetch` that it is given, and a plugin may make requests of its own.
const { fetch: elsewhere } = globalThis;
globalThis.fetch = (address, how) => (String(address.url ?? address).startsWith(SERVER) ? request(address, how) : elsewhere(address, how));

const EMPTY = new Set([204, 205, 304]);

function respond({ request: number, status, headers }) {
  const waiting = requests.get(number);
  if (!waiting) return;
  const left = () => (requests.delete(number), say({ dropped: number }));
  const stream = new ReadableStream({ start: (control) => (waiting.stream = control), cancel: left });
  waiting.begun(new Response(EMPTY.has(status) ? null : stream, { status, headers }));
}

function goOn({ request: number, data, ended }) {
  const { stream } = requests.get(number) ?? {};
  if (data) stream?.enqueue(Buffer.from(data, "base64"));
  if (!ended) return;
  stream?.close();
  requests.delete(number);
}

// What is installed in a folder, as what lies there would import it; nothing where it is not.
async function installed(packages, name) {
  const { load } = await import(pathToFileURL(join(packages, "load.mjs")));
  return load(name).catch(() => null);
}

async function client(packages, directory) {
  const sdk = await installed(packages, "@opencode-ai/sdk");
  return sdk?.createOpencodeClient({ baseUrl: SERVER, directory });
}

// Fields of tools are zod's of today, whose schemas are kept by the very module that the file uses, zod's of before (3), which
// say no more of themselves than a description, or properties of a JSON schema.
const isZod = (value) => value?._zod !== undefined;
const isZod3 = (value) => !isZod(value) && value?._def !== undefined && typeof value.parse === "function";

async function schema(args, packages) {
  if (!args || !Object.values(args).length || !Object.values(args).every(isZod)) return null;
  const z = (await installed(packages, "@opencode-ai/plugin"))?.tool.schema ?? (await installed(packages, "zod"))?.z;
  return { z, object: z.object(args) };
}

async function described(args = {}, packages) {
  const made = await schema(args, packages);
  if (made) return made.z.toJSONSchema(made.object, { io: "input" });
  const known = Object.entries(args).map(([name, value]) => [name, isZod3(value) ? { description: value.description ?? "" } : value]);
  const required = Object.entries(args).filter(([, value]) => isZod3(value) && !value.isOptional()).map(([name]) => name);
  return { type: "object", properties: Object.fromEntries(known), ...(required.length ? { required } : {}) };
}

async function checked(args = {}, given, packages) {
  const made = await schema(args, packages);
  if (made) return made.object.parse(given);
  const parsed = Object.entries(args).filter(([, value]) => isZod3(value)).map(([name, value]) => [name, value.parse(given[name])]);
  return { ...given, ...Object.fromEntries(parsed) };
}

// Ways to sign in, without their functions: those are called here.
const has = (value) => typeof value === "function";
const signs = ({ provider, methods = [], loader }) => ({ provider, loader: has(loader), methods: methods.map(way) });
const way = (method) => ({ ...method, authorize: has(method.authorize), prompts: method.prompts?.map((prompt) => ({ ...prompt, when: prompt.when ?? when(prompt, method.prompts) })) });

// A prompt may say by a function whether it is asked: it is tried with each choice of the others, to be said in words.
function when({ condition }, prompts) {
  if (!has(condition)) return undefined;
  for (const { key, options = [] } of prompts) {
    const values = options.map(({ value }) => value);
    const [asked, not] = [true, false].map((wanted) => values.filter((value) => wanted === isAsked(condition, { [key]: value })));
    if (asked.length === 1 && not.length) return { key, op: "eq", value: asked[0] };
    if (not.length === 1 && asked.length) return { key, op: "neq", value: not[0] };
  }
  return undefined;
}

function isAsked(condition, inputs) {
  try {
    return Boolean(condition(inputs));
  } catch {
    return false;
  }
}
const signIns = new Map(); // number -> what ends one that has begun

async function authorize({ plugin, auth, method, inputs }) {
  const found = plugins.get(plugin).auths[auth].methods[method];
  for (const { key, validate, condition } of found.prompts ?? []) {
    if (has(condition) && !isAsked(condition, inputs)) delete inputs[key];
    const message = key in inputs && validate?.(inputs[key]);
    if (message) return { field: key, message };
  }
  const { callback, ...shown } = (await found.authorize(inputs)) ?? {};
  if (!callback) return shown;
  signIns.set(++numbers, callback);
  return { ...shown, signIn: numbers };
}

async function finish({ signIn, code }) {
  const callback = signIns.get(signIn);
  if (!callback) throw new Error("its process has ended since; begin again");
  signIns.delete(signIn);
  return callback(code ?? undefined);
}

// What is kept of a provider is the server's, which may have renewed it.
async function entry(provider) {
  const number = ++numbers;
  const answer = new Promise((begun, failed) => requests.set(number, { begun, failed }));
  say({ request: number, auth: provider });
  return (await (await answer).json()) ?? undefined;
}

async function access({ plugin, auth, provider }) {
  const found = plugins.get(plugin).auths[auth];
  const { fetch, ...given } = (await found.loader(() => entry(found.provider), provider)) ?? {};
  fetches.set(`${plugin} ${auth}`, fetch);
  return { ...given, fetch: has(fetch) };
}

const fetches = new Map(); // what a loader gave last, by plugin and place
const PACKED = new Set(["content-encoding", "content-length", "transfer-encoding"]);

async function send({ id, plugin, auth, method, url, headers, body }) {
  const own = fetches.get(`${plugin} ${auth}`);
  if (!own) throw new Error("its process has ended since it was asked for access");
  const abort = new AbortController();
  calls.set(id, { abort });
  try {
    const answer = await own(url, { method, headers, body: body ?? undefined, signal: abort.signal });
    say({ call: id, status: answer.status, headers: [...answer.headers].filter(([name]) => !PACKED.has(name)) });
    for await (const data of answer.body ?? []) say({ call: id, data: Buffer.from(data).toString("base64") });
  } finally {
    calls.delete(id);
  }
}

async function hook({ plugin, name, input, output }) {
  for (const each of plugins.get(plugin).hooks) await each[name]?.(input, output);
  return name === "config" ? input : output; // a configuration is changed itself
}

async function call({ id, plugin, tool, args, context }) {
  const { packages, tools } = plugins.get(plugin);
  const found = tools[tool];
  const abort = new AbortController();
  const asked = new Map();
  calls.set(id, { abort, asked });
  const ask = (wanted) => new Promise((resolve, reject) => {
    const question = ++numbers;
    asked.set(question, { resolve, reject });
    say({ call: id, question, ask: wanted });
  });
  const told = { ...context, abort: abort.signal, ask, metadata: (shown) => say({ call: id, shown }) };
  try {
    const given = await checked(found.args, args, packages);
    abort.signal.throwIfAborted(); // who begins to listen now would hear nothing
    const said = await found.execute(given, told);
    return said ?? "";
  } finally {
    calls.delete(id);
  }
}

const DO = {
  ping: () => "pong",
  load,
  authorize,
  finish,
  access,
  send,
  models: ({ plugin, at, provider, context: { auth } }) => plugins.get(plugin).providers[at].models(provider, { auth: auth ?? undefined }),
  hook,
  call,
  respond,
  goOn,
  stop: ({ call: id }) => calls.get(id)?.abort.abort(),
  answer({ call: id, question, refused }) {
    const { resolve, reject } = calls.get(id)?.asked.get(question) ?? {};
    if (refused) reject?.(new Error(refused));
    else resolve?.();
  },
};

const words = (error) => ({ name: error?.name ?? "Error", code: error?.code ?? "", message: String(error?.message ?? error) });

async function take(line) {
  const message = JSON.parse(line);
  try {
    const given = await DO[message.do](message);
    if (message.id) say({ id: message.id, given: given ?? null });
  } catch (error) {
    if (message.id) say({ id: message.id, error: words(error) });
  }
}

// What a plugin began and does not look at is its own fault, and no reason for the others to end.
for (const name of ["unhandledRejection", "uncaughtException"]) process.on(name, (error) => console.error(error));

const lines = createInterface({ input: process.stdin });
lines.on("line", take);
lines.on("close", async () => {
  const ends = [...plugins.values()].flatMap(({ hooks }) => hooks.map((each) => each.dispose?.()));
  await Promise.allSettled(ends);
  process.exit(0);
});

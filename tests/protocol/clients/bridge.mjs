// A third party's provider for the AI SDK, which drives a server over its headless API: prints one JSON object.
// argv: folder of node_modules, URL, password, project folder.
import { pathToFileURL } from "node:url";

const [modules, url, password, cwd] = process.argv.slice(2);
const load = async (name, file) => import(pathToFileURL(`${modules}/${name}/${file}`));
const { createOpencode } = await load("ai-sdk-provider-opencode-sdk", "dist/index.js");
const { streamText, generateText } = await load("ai", "dist/index.mjs");
const headers = { Authorization: `Basic ${btoa(`opencode:${password}`)}` };
const opencode = createOpencode({ baseUrl: url, cwd, clientOptions: { headers } });

const chunks = [];
for await (const chunk of streamText({ model: opencode("fake/fake"), prompt: "Say hello." }).textStream) chunks.push(chunk);
const { text, finishReason } = await generateText({ model: opencode("fake/fake"), prompt: "Once more." });
console.log(JSON.stringify({ chunks, text, finishReason }));
process.exit(0);

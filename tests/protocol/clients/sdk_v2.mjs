// The same by the SDK's second client, over both its protocols: prints one JSON object.
// argv: folder of node_modules, URL, password, project folder.
import { pathToFileURL } from "node:url";

const [modules, url, password, directory] = process.argv.slice(2);
const { createOpencodeClient } = await import(pathToFileURL(`${modules}/@opencode-ai/sdk/dist/v2/client.js`));
const headers = { Authorization: `Basic ${btoa(`opencode:${password}`)}` };
const client = createOpencodeClient({ baseUrl: url, headers, directory, throwOnError: true });

const first = (await client.session.create({ title: "By the second client" })).data;
const answer = (await client.session.prompt({ sessionID: first.id, parts: [{ type: "text", text: "Hello." }] })).data;

const made = (await client.v2.session.create({ location: { directory } })).data.data;
const sessionID = made.id;
const admitted = (await client.v2.session.prompt({ sessionID, prompt: { text: "Hello again." } })).data.data;
await client.v2.session.wait({ sessionID });
const messages = (await client.v2.session.messages({ sessionID, order: "asc" })).data.data;
const lists = {
  sessions: (await client.v2.session.list({ directory, limit: 5 })).data.data.map(({ id }) => id),
  agents: (await client.v2.agent.list({ location: { directory } })).data.data.map(({ id, name }) => id ?? name),
  models: (await client.v2.model.list({ location: { directory } })).data.data.map(({ id }) => id),
  location: (await client.v2.location.get({ location: { directory } })).data,
};
const missing = await client.v2.session.get({ sessionID: "ses_nothing" }, { throwOnError: false });
console.log(JSON.stringify({ first, answer, made, admitted, messages, lists, missing: [missing.response.status, missing.error] }));
process.exit(0);

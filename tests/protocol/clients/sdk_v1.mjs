// A conversation by @opencode-ai/sdk: prints one JSON object with what it was given.
// argv: folder of node_modules, URL, password, project folder.
import { pathToFileURL } from "node:url";

const [modules, url, password, directory] = process.argv.slice(2);
const { createOpencodeClient } = await import(pathToFileURL(`${modules}/@opencode-ai/sdk/dist/client.js`));
const headers = { Authorization: `Basic ${btoa(`opencode:${password}`)}` };
const client = createOpencodeClient({ baseUrl: url, headers, directory, throwOnError: true });

const seen = [];
const { stream } = await client.event.subscribe();
seen.push((await stream.next()).value.type); // it connects when it is first read
const session = (await client.session.create({ body: { title: "By the SDK" } })).data;
const path = { id: session.id };

async function follow(until) {
  for await (const event of stream) {
    seen.push(event.type);
    if (event.type === "permission.asked" && event.properties.sessionID === session.id) {
      const permissionID = event.properties.id;
      const answer = { path: { ...path, permissionID }, body: { response: "once" } };
      await client.postSessionIdPermissionsPermissionId(answer);
    }
    if (event.type === until && event.properties.sessionID === session.id) return;
  }
}

const idle = follow("session.idle");
await client.session.promptAsync({ path, body: { parts: [{ type: "text", text: "Make a file." }] } });
await idle;
const messages = (await client.session.messages({ path })).data;
const first = messages.find(({ info }) => info.role === "user").info.id;
const reverted = (await client.session.revert({ path, body: { messageID: first } })).data;
const unreverted = (await client.session.unrevert({ path })).data;
const told = (await client.session.prompt({ path, body: { parts: [{ type: "text", text: "Thanks." }] } })).data;
const lists = {
  sessions: (await client.session.list()).data.map(({ id }) => id),
  agents: (await client.app.agents()).data.map(({ name }) => name),
  providers: (await client.config.providers()).data.default,
  files: (await client.find.files({ query: { query: "hello" } })).data,
  content: (await client.file.read({ query: { path: "hello.py" } })).data.content,
  project: (await client.project.current()).data.worktree,
};
const deleted = (await client.session.delete({ path })).data;
const gone = await client.session.get({ path, throwOnError: false });
console.log(JSON.stringify({
  session, messages, reverted, unreverted, told, lists, deleted, seen: [...new Set(seen)],
  gone: [gone.response.status, gone.error],
}));
process.exit(0);

"""Plugins and tools in JavaScript, as OpenCode has them, in whole turns."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.site.security.browser import Browser
from tests.programs import bun
from tests.runtime.test_mcp import until_running
from tests.runtime.trusting import dialog, notices, revoke, trust, with_files, write
from tests.server import PATIENCE, parts_of, until

EVERYTHING = """
import { appendFileSync } from "node:fs";

export const Everything = async ({ project, directory, worktree, $ }) => {
  const tell = (...words) => appendFileSync(`${directory}/told.txt`, `${words.join(" ")}\\n`);
  console.log("what is printed", "is no message");
  tell("made", project.id.length > 0, directory === worktree, (await $`echo ${"a b"} | cat`.text()).trim());
  return {
    event: async ({ event }) => event.type === "session.idle" && tell("event", event.type),
    config: async (config) => tell("config", config.model),
    "chat.message": async ({ agent }, { message, parts: [first], parts }) => {
      const whole = message.id === first.messageID && message.sessionID === first.sessionID && first.id;
      parts.push({ type: "text", text: `(to ${agent}, ${whole ? message.role : "nobody"})` });
    },
    "chat.params": async ({ model, provider }, output) => {
      tell("asks", provider.info.id, model.id, model.limit.output > 0, model.capabilities.toolcall);
      Object.assign(output, { temperature: 0.25, topP: 0.5 });
    },
    "chat.headers": async (input, output) => { output.headers["x-session"] = input.sessionID; },
    "experimental.chat.system.transform": async (_, output) => { output.system.push("third"); },
    "tool.definition": async (input, output) => {
      if (input.toolID === "read") output.description = "Reads what the plugin says.";
    },
    "tool.execute.before": async (input, output) => {
      if (JSON.stringify(output.args).includes("forbidden")) throw new Error("Not with this plugin.");
      if (input.tool === "bash") output.args.command += " && echo added";
    },
    "tool.execute.after": async (_, made) => { made.output = made.output.replaceAll("hello", "goodbye"); },
    "shell.env": async (input, output) => { output.env.FROM_PLUGIN = `value of ${input.callID}`; },
    tool: {
      shout: {
        description: "Says a word loudly.",
        args: { word: { type: "string" } },
        execute: async ({ word }, context) => {
          context.metadata({ title: "Shouting" });
          const output = `${word.toUpperCase()} in ${context.directory === directory}`;
          return { title: "Shouted", output, metadata: { n: 1 } };
        },
      },
    },
  };
};
"""

HELPERS = """
export const given = (input) => input;
export const words = () => "no hooks";
export const none = () => [() => {}];
"""

GUARD = """
export const Guard = async () => ({
  "tool.execute.before": async (input, output) => {
    if (output.args.command === "die") process.exit(3);
    if (output.args.command === "hang") await new Promise(() => {});
    if (output.args.command === "spin") for (;;);
    if (output.args.command === "evil") throw new Error("PLUGIN-BLOCKED");
  },
});
"""

ASKS = """
import { writeFileSync } from "node:fs";

export default {
  description: "Asks before it does anything.",
  args: {},
  async execute(args, context) {
    await context.ask({ permission: "careful", patterns: ["it"], always: ["*"], metadata: {} });
    return "It was allowed.";
  },
};

export const waits = {
  description: "Waits until it is stopped.",
  args: {},
  execute: (args, { abort, directory, metadata }) => new Promise((_, refuse) => {
    abort.addEventListener("abort", ({ type }) => {
      writeFileSync(`${directory}/stopped`, type);
      refuse(new Error("stopped"));
    });
    metadata({ metadata: { listens: true } });
  }),
};
"""


ADDER = """
import { tool } from "@opencode-ai/plugin";
import kebabCase from "just-kebab-case";

export const add = tool({
  description: "Adds two numbers.",
  args: { a: tool.schema.number().describe("The first"), b: tool.schema.number().default(1) },
  execute: async ({ a, b }) => `${kebabCase("The Sum")}: ${a + b}`,
});
"""


CLIENT = """
import { appendFileSync } from "node:fs";

export const Asks = async ({ client, directory }) => {
  const tell = (word) => appendFileSync(`${directory}/told.txt`, `${word}\\n`);
  const listen = async () => {
    const { stream } = await client.event.subscribe();
    for await (const event of stream) tell(event.type);
  };
  listen().catch((error) => tell(`lost: ${error}`));
  return {
    "tool.execute.after": async (input, output) => {
      const { data } = await client.session.get({ path: { id: input.sessionID } });
      const { error } = await client.session.get({ path: { id: "ses_nobody" } });
      output.output = `${data.title}, here: ${data.directory === directory}, ${error.name}`;
    },
  };
};
"""


def npm(user_environ: Mapping[str, str]) -> dict[str, str]:
    """What npm finds a registry by."""
    return {"NPM_CONFIG_USERCONFIG": str(Path(user_environ["HOME"]) / ".npmrc")}


@pytest.fixture(params=["node", pytest.param("bun", marks=pytest.mark.proc)])  # without /proc Bun aborts
def runtime(request: pytest.FixtureRequest, user_environ: dict[str, str]) -> dict[str, str]:
    """An environment in which JavaScript is run by this program."""
    return on_bun(user_environ) if request.param == "bun" else {}


def on_bun(user_environ: Mapping[str, str]) -> dict[str, str]:
    return {"PATH": f"{bun(user_environ).parent}:{os.environ['PATH']}"}


def with_scripts(
    home: Path,
    project: Path,
    script: list[Turn],
    files: Mapping[str, str],
    environ: Mapping[str, str] | None = None,
    **config: Any,
) -> AbstractAsyncContextManager[tuple[Client, OpenAIServer, Browser, str]]:
    """The server in a project whose files below `.opencode` are trusted."""
    environ = {"OPENCODE_WEB_HOOK_SECONDS": "2", **(environ or {})}
    return with_files(home, project, script, files, environ, **config)


async def test_every_hook_has_its_say(home: Path, project: Path) -> None:
    uses = [
        ToolUse("read", {"filePath": "hello.py"}),
        ToolUse("bash", {"command": "echo $FROM_PLUGIN"}),
        ToolUse("list", {"path": "forbidden"}),
        ToolUse("shout", {"word": "hey"}),
    ]
    script = [Turn(tools=uses), Turn(text="Done.")]
    rules = {"*": "allow", "shout": "allow"}
    files = {"plugins/everything.js": EVERYTHING, "plugins/helpers.js": HELPERS}
    async with with_scripts(home, project, script, files, permission=rules) as (client, model, browser, id):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Look.")
        first = model.requests[0]
        assert ".js" not in await notices(browser, id)
        assert "(to build, user)" in str(first.body["messages"][-1])
        assert (first.body["temperature"], first.body["top_p"]) == (0.25, 0.5)
        assert first.headers["x-session"] == session["id"]
        assert [m["content"] for m in first.body["messages"] if m["role"] == "system"][-1].endswith("third")
        shown = {tool["function"]["name"]: tool["function"] for tool in first.body["tools"]}
        assert shown["read"]["description"] == "Reads what the plugin says."
        assert shown["shout"]["parameters"]["properties"] == {"word": {"type": "string"}}
        parts = {part["tool"]: part for part in parts_of(await client.messages(session["id"]), "tool")}
        assert "def goodbye()" in parts["read"]["state"]["output"]
        assert f"value of {parts['bash']['callID']}\nadded" in parts["bash"]["state"]["output"]
        assert parts["list"]["state"]["error"] == "Not with this plugin."
        shouted = parts["shout"]["state"]
        assert (shouted["title"], shouted["output"]) == ("Shouted", "HEY in true")
        assert shouted["metadata"]["n"] == 1
    told = (project / "told.txt").read_text().splitlines()
    assert told[0] == "made true true a b"
    assert "event session.idle" in told
    assert "config fake/fake" in told
    assert "asks fake fake true true" in told


TELLS = """
import { writeFileSync } from "node:fs";

export const Tells = async ({ directory }) => {
  const { said } = await import("opencode-web-none").catch(() => ({ said: "nothing" }));
  writeFileSync(`${directory}/told.txt`, `${said} ${process.env.FROM_FILE}`);
  return {};
};
"""


async def test_nothing_of_the_project_runs_beside_what_was_trusted(
    home: Path, project: Path, runtime: dict[str, str]
) -> None:
    evil = f'require("node:fs").writeFileSync("{project}/ran", "");'
    beside = {
        "bunfig.toml": 'preload = ["./evil.cjs"]',
        "evil.cjs": evil,
        ".env": "FROM_FILE=here",
        "tsconfig.json": '{"compilerOptions": {"paths": {"opencode-web-none": ["./other.ts"]}}}',
        "other.ts": 'export const said = "other";',
    }
    for name, text in beside.items():
        (project / name).write_text(text)
    files, script = {"plugins/tells.js": TELLS}, [Turn(text="Done.")]
    async with with_scripts(home, project, script, files, runtime) as (client, *_):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Go.")
    assert (project / "told.txt").read_text() == "nothing undefined"
    assert not (project / "ran").exists()


async def test_a_guard_that_cannot_be_asked_lets_nothing_through(home: Path, project: Path) -> None:
    commands = ("evil", "die", "echo one", "hang", "echo two", "spin", "echo three")
    script = [Turn(tools=[ToolUse("bash", {"command": command})]) for command in commands]
    files = {"plugin/guard.mjs": GUARD}
    rules = {"*": "allow"}
    async with with_scripts(home, project, [*script, Turn(text="Done.")], files, permission=rules) as (
        client, _, browser, id,
    ):  # fmt: skip
        session = await client.create_session("guarded")
        await client.prompt(session["id"], "Run them.")
        states = [part["state"] for part in parts_of(await client.messages(session["id"]), "tool")]
        unasked = "The plugin guard.mjs could not be asked whether this may be done."
        assert [state.get("error", state.get("output", "").strip()) for state in states] == [
            "PLUGIN-BLOCKED",
            unasked,
            "one",
            unasked,
            "two",
            unasked,
            "three",
        ]
        said = str(await notices(browser, id))
        assert "guard.mjs" in said


async def test_a_tool_asks_and_is_stopped(home: Path, project: Path) -> None:
    script = [
        Turn(tools=[ToolUse("careful", {})]),
        Turn(text="Done."),
        Turn(tools=[ToolUse("careful_waits", {})]),
    ]
    rules = {"*": "allow", "careful": "allow", "careful_waits": "allow"}
    async with with_scripts(home, project, script, {"tool/careful.js": ASKS}, permission=rules) as (
        client,
        *_,
    ):
        session = await client.create_session("asks")
        await client.prompt(session["id"], "Ask.")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert part["state"]["output"] == "It was allowed."
        async with client.events() as events:
            await client.prompt_async(session["id"], "Wait.")
            await until_running(events, "careful_waits", listens=True)
            os.mkfifo(project / "stopped")
            pipe = os.open(project / "stopped", os.O_RDWR | os.O_NONBLOCK)
            told = asyncio.Event()
            asyncio.get_running_loop().add_reader(pipe, told.set)
            await client.http.post(f"/session/{session['id']}/abort")
            async with asyncio.timeout(PATIENCE):
                await told.wait()
            asyncio.get_running_loop().remove_reader(pipe)
            os.close(pipe)
            await until(events, "session.idle", sessionID=session["id"])


async def test_a_tool_with_packages(home: Path, project: Path, user_environ: dict[str, str]) -> None:
    script = [
        Turn(tools=[ToolUse("maths_add", {"a": 2}), ToolUse("maths_add", {"a": "two"})]),
        Turn(text="Done."),
    ]
    files = {
        "tools/maths.js": ADDER,
        "package.json": json.dumps({"dependencies": {"just-kebab-case": "4.2.0"}}),
    }
    rules = {"*": "allow", "maths_add": "allow"}
    async with with_scripts(home, project, script, files, npm(user_environ), permission=rules) as (
        client, model, *_,
    ):  # fmt: skip
        session = await client.create_session("adds")
        await client.prompt(session["id"], "Add.")
        shown = {tool["function"]["name"]: tool["function"] for tool in model.requests[0].body["tools"]}
        assert shown["maths_add"]["parameters"]["required"] == ["a"]
        assert shown["maths_add"]["parameters"]["properties"]["a"]["description"] == "The first"
        right, wrong = (part["state"] for part in parts_of(await client.messages(session["id"]), "tool"))
        assert right["output"] == "the-sum: 3"
        assert "number" in wrong["error"]


async def test_the_client_asks_the_server(home: Path, project: Path, user_environ: dict[str, str]) -> None:
    """Requests, errors and a stream, and none of it over the network."""
    script = [Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="Done.")]
    files = {
        "plugin/asks.js": CLIENT,
        "package.json": json.dumps({"dependencies": {"@opencode-ai/sdk": "1.18.33"}}),
    }
    async with with_scripts(home, project, script, files, npm(user_environ), permission={"*": "allow"}) as (
        client, *_,
    ):  # fmt: skip
        session = await client.create_session("Asked about")
        await client.prompt(session["id"], "Read.")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert part["state"]["output"] == "Asked about, here: true, NotFoundError"
    told = (project / "told.txt").read_text().split("\n")
    assert "message.part.updated" in told
    assert not any(line.startswith("lost") for line in told)


TYPED = """
import { tool, type Plugin } from "@opencode-ai/plugin";

interface Sum { a: number; b: number }

export const Typed: Plugin = async ({ $ }) => ({
  "tool.execute.before": async (input, output) => {
    if (input.tool === "bash" && output.args.command.includes("secret")) throw new Error("That is secret.");
  },
  tool: {
    sum: tool({
      description: "Adds by a shell.",
      args: { a: tool.schema.number(), b: tool.schema.number() },
      async execute({ a, b }: Sum): Promise<string> {
        return (await $`expr ${a} + ${b}`.text()).trim();
      },
    }),
  },
});
"""


@pytest.mark.proc
async def test_typescript_and_a_published_plugin(
    home: Path, project: Path, user_environ: dict[str, str]
) -> None:
    """By Bun, as OpenCode runs them."""
    script = [
        Turn(
            tools=[
                ToolUse("bash", {"command": "cat secret"}),
                ToolUse("sum", {"a": 2, "b": 3}),
                ToolUse("skills_look_well", {}),
            ]
        ),
        Turn(text="Done."),
    ]
    skill = "---\nname: look-well\ndescription: Looks at something very well.\n---\nLook at it twice.\n"
    files = {
        "plugins/typed.ts": TYPED,
        "skills/look-well/SKILL.md": skill,
        "opencode.json": json.dumps({"plugin": ["opencode-skills@0.1.7"]}),
    }
    environ = npm(user_environ) | on_bun(user_environ)
    rules = {"*": "allow", "sum": "allow", "skills_look_well": "allow"}
    async with with_scripts(home, project, script, files, environ, permission=rules) as (client, model, *_):
        session = await client.create_session("typed")
        await client.prompt(session["id"], "Add.")
        parts = parts_of(await client.messages(session["id"]), "tool")
        states = {part["tool"]: part["state"] for part in parts}
        assert states["bash"]["error"] == "That is secret."
        assert states["sum"]["output"] == "5"
        assert states["skills_look_well"]["output"] == "Launching skill: look-well"
        said = str(await client.messages(session["id"]))
        assert "Look at it twice." in said
        assert "Look at it twice." in str(model.requests[-1].body["messages"])


PRUNES = """
export const Prunes = async () => ({
  "experimental.chat.messages.transform": async (input, { messages }) => {
    const [first] = messages;
    const { id, role, sessionID } = first.info;
    const strange = (part) => part.messageID !== id || part.sessionID !== sessionID;
    if (role !== "user" || first.parts.some(strange)) throw new Error("what is this?");
    for (const { parts } of messages) {
      for (const part of parts.filter(({ type }) => type === "tool")) part.state.output = "pruned";
    }
    const part = { id: "prt_x", messageID: "msg_x", sessionID, type: "text", text: "said by the plugin" };
    messages.push({ info: { ...first.info, id: "msg_x" }, parts: [part] });
  },
});
"""


async def test_the_messages_of_a_request_are_changed_in_place(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="Done.")]
    async with with_scripts(home, project, script, {"plugin/prunes.js": PRUNES}) as (client, model, *_):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Read.")
        first, second = (request.body["messages"] for request in model.requests)
        assert first[-1]["content"] == second[-1]["content"] == "said by the plugin"
        assert second[-2]["content"] == "pruned"
        kept = str(await client.messages(session["id"]))
        assert "def hello" in kept
        assert "said by the plugin" not in kept


SIGNS_IN = """
import { existsSync, writeFileSync } from "node:fs";

const refused = { nowhere: "Not there." };
const entry = (access) => ({ type: "success", refresh: "r", access, expires: 0 });

export const SignsIn = async ({ directory }) => ({
  auth: {
    provider: "fake",
    methods: [
      {
        type: "oauth",
        label: "By itself",
        prompts: [{ type: "text", key: "where", message: "Where?", validate: (text) => refused[text] }],
        authorize: async ({ where }) => ({
          url: "https://sign.in/", instructions: "Sign in.", method: "auto",
          callback: async () => entry(`auto-${where}`),
        }),
      },
      {
        type: "oauth",
        label: "With a code",
        authorize: async () => ({
          url: "https://sign.in/code", instructions: "Bring the code.", method: "code",
          callback: async (code) => (code === "right" ? entry("by-code") : { type: "failed" }),
        }),
      },
      { type: "api", label: "A key" },
    ],
    async loader(getAuth) {
      const { access } = await getAuth();
      const send = async (address, how) => {
        if (!existsSync(`${directory}/broke`)) {
          writeFileSync(`${directory}/broke`, "");
          process.exit(1);
        }
        const headers = { ...how.headers, "x-fetched": JSON.parse(how.body).model };
        return fetch(address, { ...how, headers });
      };
      return { apiKey: "unused", headers: { "x-access": access }, fetch: send };
    },
  },
});
"""


async def test_a_plugin_signs_in_and_sends_the_requests(
    home: Path, project: Path, runtime: dict[str, str]
) -> None:
    """Once its process ends meanwhile, and the request is made again."""
    files = {"plugin/signs-in.js": SIGNS_IN}
    script = [Turn(text="Plain."), Turn(text="By itself."), Turn(text="By a code.")]
    async with with_scripts(home, project, script, files, runtime) as (client, model, *_):
        session = (await client.create_session("named"))["id"]
        await client.prompt(session, "Before.")
        assert "x-access" not in model.requests[-1].headers
        listed = (await client.http.get("/provider/auth")).json()["fake"]
        assert [(one["type"], one["label"]) for one in listed] == [
            ("oauth", "By itself"),
            ("oauth", "With a code"),
            ("api", "A key"),
        ]
        begin, end = "/provider/fake/oauth/authorize", "/provider/fake/oauth/callback"
        refused = await _refused(client, begin, {"method": 0, "inputs": {"where": "nowhere"}})
        assert refused["data"]["message"] == "Not there."
        begun = await client.http.post(begin, json={"method": 0, "inputs": {"where": "here"}})
        assert begun.json() == {"url": "https://sign.in/", "method": "auto", "instructions": "Sign in."}
        assert (await client.http.post(end, json={"method": 0})).json() is True
        await client.prompt(session, "By itself.")
        asked = model.requests[-1]
        assert (asked.headers["x-access"], asked.headers["x-fetched"]) == ("auto-here", asked.body["model"])
        begun = await client.http.post(begin, json={"method": 1, "inputs": {}})
        assert begun.json()["method"] == "code"
        assert (await _refused(client, end, {"method": 1}))["name"] == "ProviderAuthOauthCodeMissing"
        assert (await client.http.post(end, json={"method": 1, "code": "right"})).json() is True
        await client.prompt(session, "By a code.")
        assert model.requests[-1].headers["x-access"] == "by-code"
        begun = await client.http.post(begin, json={"method": 1, "inputs": {}})
        failed = await _refused(client, end, {"method": 1, "code": "wrong"})
        assert failed["name"] == "ProviderAuthOauthCallbackFailed"


ASKS_FIRST = """
export const AsksFirst = async ({ client }) => ({
  auth: {
    provider: "fake",
    methods: [
      {
        type: "api",
        label: "For another",
        prompts: [
          { type: "select", key: "kind", message: "Which?", options: [
            { label: "Ours", value: "ours" }, { label: "Yours", value: "yours" },
          ] },
          { type: "text", key: "host", message: "Where?", condition: ({ kind }) => kind === "yours" },
        ],
        authorize: async (inputs) => ({
          type: "success", key: `key-${inputs.kind}-${inputs.host}`,
          provider: "other", metadata: { from: "it" },
        }),
      },
      {
        type: "api",
        label: "A key of a team",
        prompts: [{ type: "text", key: "team", message: "Whose?" }],
      },
    ],
    async loader(getAuth) {
      const { key } = await getAuth();
      const body = { type: "api", key: `${key}-renewed` };
      if (!key.endsWith("-renewed")) await client.auth.set({ path: { id: "fake" }, body });
      return { apiKey: (await getAuth()).key };
    },
  },
});
"""


async def test_a_key_for_another_provider_and_one_that_is_renewed(
    home: Path, project: Path, user_environ: dict[str, str]
) -> None:
    """What a function says of a question is said in words."""
    files, script = {"plugin/asks-first.js": ASKS_FIRST}, [Turn(text="Hey."), Turn(text="Again.")]
    async with with_scripts(home, project, script, files, npm(user_environ)) as (client, *_):
        session = (await client.create_session("named"))["id"]
        await client.prompt(session, "Hello.")
        first, second = (await client.http.get("/provider/auth")).json()["fake"]
        assert first["prompts"][1]["when"] == {"key": "kind", "op": "eq", "value": "yours"}
        assert [prompt["key"] for prompt in second["prompts"]] == ["team"]
        begin, end = "/provider/fake/oauth/authorize", "/provider/fake/oauth/callback"
        given = {"kind": "ours", "host": "nowhere"}
        await client.http.post(begin, json={"method": 0, "inputs": given})
        assert (await client.http.post(end, json={"method": 0})).json() is True
        await client.http.post(begin, json={"method": 1, "inputs": {"team": "blue", "key": "mine"}})
        assert (await client.http.post(end, json={"method": 1})).json() is True
        kept = json.loads((home / ".local/share/opencode-web/auth.json").read_text())
        assert kept["other"] == {"type": "api", "key": "key-ours-undefined", "metadata": {"from": "it"}}
        assert kept["fake"] == {"type": "api", "key": "mine", "metadata": {"team": "blue"}}
        answer = await client.prompt(session, "Once more.")
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["Again."]
        kept = json.loads((home / ".local/share/opencode-web/auth.json").read_text())
        assert kept["fake"] == {"type": "api", "key": "mine-renewed"}


async def _refused(client: Client, path: str, body: dict[str, Any]) -> Any:
    with pytest.raises(httpx.HTTPStatusError) as refused:
        await client.http.post(path, json=body)
    return refused.value.response.json()


CONFIGURES = """
export const Configures = async () => ({
  config: async (config) => {
    const helper = { description: "Helps.", mode: "primary", prompt: "You help a lot." };
    config.agent = { ...config.agent, helper };
    config.command = { ...config.command, greet: { template: "Greet $1 as the plugin does." } };
  },
});
"""


async def test_what_a_plugin_makes_of_the_configuration_is_in_force(home: Path, project: Path) -> None:
    files = {"plugin/configures.js": CONFIGURES}
    async with with_scripts(home, project, [Turn(text="Hey.")], files) as (client, model, *_):
        assert "helper" in [agent["name"] for agent in (await client.http.get("/agent")).json()]
        session = (await client.create_session("named"))["id"]
        body = {"command": "greet", "arguments": "you", "agent": "helper"}
        await client.post(f"/session/{session}/command", body)
        assert "Greet you as the plugin does." in str(model.requests[0].body["messages"][-1])
        assert "You help a lot." in str(model.requests[0].body["messages"][0])


DRAWS = """
const url = "data:image/png;base64,%s";

export default {
  description: "Draws.",
  args: {},
  async execute() {
    return { output: "Drawn.", attachments: [{ type: "file", mime: "image/png", url, filename: "a.png" }] };
  },
};

export const badly = {
  description: "Draws badly.",
  args: {},
  async execute() {
    return { output: "Drawn.", attachments: [{ type: "file", mime: "image/png", url: "https://a/b" }] };
  },
};
"""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


async def test_a_tool_gives_a_file(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("draw", {}), ToolUse("draw_badly", {})]), Turn(text="Seen.")]
    rules = {"*": "allow", "draw": "allow", "draw_badly": "allow"}
    files = {"tool/draw.js": DRAWS % PIXEL}
    async with with_scripts(home, project, script, files, permission=rules) as (client, model, *_):
        session = await client.create_session("draws")
        await client.prompt(session["id"], "Draw.")
        drawn, badly = (part["state"] for part in parts_of(await client.messages(session["id"]), "tool"))
        (file,) = drawn["attachments"]
        assert (file["mime"], file["filename"], PIXEL in file["url"]) == ("image/png", "a.png", True)
        assert PIXEL in str(model.requests[1].body["messages"])
        assert "no data: URL" in badly["error"]


async def test_a_file_imports_another_of_its_folder(home: Path, project: Path) -> None:
    """Whatever kind of module a package of the home folder says that all files are."""
    write(home, {"package.json": '{"type": "commonjs"}'})
    uses = """
import { words } from "./words.js";

export default { description: "Says it.", args: {}, execute: async () => words };
"""
    words = """
export const words = "said by another file";
export const other = { description: "Is there as well.", args: {}, execute: async () => "" };
"""
    script = [Turn(tools=[ToolUse("says", {})]), Turn(text="Done.")]
    rules = {"*": "allow", "says": "allow"}
    files = {"tool/says.js": uses, "tool/words.js": words}
    async with with_scripts(home, project, script, files, permission=rules) as (client, *_):
        session = await client.create_session("says")
        await client.prompt(session["id"], "Say it.")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert part["state"]["output"] == "said by another file"


PARTS = {
    ".opencode/tool/says.js": """
import { words } from "../shared/words";
import { more } from "../../lib";
import data from "./data.json" with { type: "json" };

export default { description: "Says it.", args: {}, execute: async () => `${words}, ${more}, ${data.last}` };
""",
    ".opencode/shared/words.mjs": 'export * from "./deeper/words.mjs";',
    ".opencode/shared/deeper/words.mjs": 'export const words = "from beside";',
    "lib/index.js": 'export const more = "from the project";',
    ".opencode/tool/data.json": '{"last": "from data"}',
}


async def test_a_file_imports_from_folders_beside_and_below(
    home: Path, project: Path, runtime: dict[str, str]
) -> None:
    """Without endings, too. It runs as it was trusted until a change of any part is."""
    use = [Turn(tools=[ToolUse("says", {})]), Turn(text="Done.")]
    rules = {"*": "allow", "says": "allow"}
    write(project, PARTS)
    script = [*use, *use, *use, *use]
    async with with_scripts(home, project, script, {}, runtime, permission=rules) as (client, _, browser, id):
        session = await client.create_session("says")

        async def said() -> Any:
            await client.prompt(session["id"], "Say it.")
            return parts_of(await client.messages(session["id"]), "tool")[-1]["state"]["output"]

        assert await said() == "from beside, from the project, from data"
        write(project, {"lib/index.js": 'export const more = "changed";'})
        assert await said() == "from beside, from the project, from data"
        assert "lib/index.js" in await dialog(browser, id)
        await trust(browser, id)
        assert await said() == "from beside, changed, from data"
        write(project, {"lib/index.js": 'export const more = "changed again";'})
        await revoke(browser, id)
        assert "says" in await said()


NAMED = """
export default async (input, options = {}) => ({
  "chat.headers": async (_, output) => { output.headers[`x-${options.name ?? "plain"}`] = "was here"; },
});
"""


async def test_files_that_the_configuration_names(home: Path, project: Path) -> None:
    """Relative to the file that names them, absolute, as an address, as a folder that is a package."""
    mine = home / "of-mine.mjs"
    mine.write_text(NAMED)
    write(
        project,
        {
            "opencode.json": json.dumps({"plugin": [["./tools/one.js", {"name": "one"}], "./missing.js"]}),
            ".opencode/opencode.json": json.dumps(
                {"plugin": [["./two.mjs", {"name": "two"}], ["../packed", {"name": "packed"}], mine.as_uri()]}
            ),
            "tools/one.js": NAMED,
            ".opencode/two.mjs": NAMED,
            "packed/package.json": json.dumps({"main": "./made/main.mjs"}),
            "packed/made/main.mjs": NAMED,
        },
    )
    async with with_scripts(home, project, [Turn(text="Hey.")], {}) as (client, model, browser, id):
        assert "no file" in await notices(browser, id)
        session = await client.create_session("named")
        await client.prompt(session["id"], "Hello.")
        headers = model.requests[0].headers
        assert {name for name, value in headers.items() if value == "was here"} == {
            "x-one",
            "x-two",
            "x-packed",
            "x-plain",
        }


async def test_a_published_plugin_signs_in(home: Path, project: Path, user_environ: dict[str, str]) -> None:
    """Its methods stand after ours and the key."""
    files = {"opencode.json": json.dumps({"plugin": ["opencode-openai-codex-auth@4.4.0"]})}
    async with with_scripts(home, project, [Turn(text="Hey.")], files, npm(user_environ)) as (client, *_):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Hello.")
        listed = (await client.http.get("/provider/auth")).json()["openai"]
        labels = [method["label"] for method in listed]
        assert labels[2] == "Manually enter API Key"
        assert any("Codex" in label for label in labels[3:]), labels


LISTS = """
export const Lists = async () => ({
  provider: {
    id: "fake",
    models: async ({ models }, { auth }) => ({
      ...models,
      listed: {
        ...models.fake, id: "listed", name: "Listed", api: { id: "listed-there", url: "", npm: "" },
        limit: { context: 64000, output: 4000 }, options: { user: auth.key },
      },
    }),
  },
});
"""


async def test_a_plugin_lists_the_models_of_a_provider(
    home: Path, project: Path, runtime: dict[str, str]
) -> None:
    (home / ".local/share/opencode-web").mkdir(parents=True)
    kept = {"fake": {"type": "api", "key": "somebody"}}
    (home / ".local/share/opencode-web/auth.json").write_text(json.dumps(kept))
    files = {"plugin/lists.js": LISTS}
    async with with_scripts(home, project, [Turn(text="Hey.")], files, runtime) as (client, model, *_):
        await client.http.get("/agent")
        providers = (await client.http.get("/config/providers")).json()["providers"]
        (fake,) = [provider for provider in providers if provider["id"] == "fake"]
        assert list(fake["models"]) == ["fake", "listed"]
        assert fake["models"]["listed"]["limit"]["context"] == 64_000
        session = (await client.create_session("named"))["id"]
        await client.prompt(session, "Hello.", model={"providerID": "fake", "modelID": "listed"})
        asked = model.requests[0].body
        assert (asked["model"], asked["user"]) == ("listed-there", "somebody")

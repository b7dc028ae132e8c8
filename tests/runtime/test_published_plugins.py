"""Plugins from the registry and a tool, in a turn on a machine without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.client import Client
from tests import cable
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.runtime.test_javascript import npm, on_bun
from tests.runtime.trusting import with_files
from tests.server import Server, model_config, parts_of

SUM = """
import { tool } from "@opencode-ai/plugin";

export default tool({
  description: "Adds two numbers.",
  args: { a: tool.schema.number(), b: tool.schema.number() },
  execute: async ({ a, b }) => `${a + b}`,
});

export const dies = tool({ description: "Ends its process.", args: {}, execute: () => process.exit(3) });
"""
GUARD = """
export const Guard = async () => ({
  "tool.execute.before": async (_, { args }) => {
    if (args.command?.includes("secret")) throw new Error("That is secret.");
  },
});
"""
FILES = {
    "tools/sum.ts": SUM,
    "plugins/guard.js": GUARD,
    "skills/look-well/SKILL.md": (
        "---\nname: look-well\ndescription: Looks at something very well.\n---\nLook at it twice.\n"
    ),
    "opencode.json": json.dumps(
        {"plugin": ["opencode-skills@0.1.7", "@sureshsankaran/opencode-destructive-check@1.0.5"]}
    ),
}
RULES = dict.fromkeys(("*", "sum", "sum_dies", "skills_look_well", "destructive-check-status"), "allow")
READ = ToolUse("bash", {"command": "cat secret"})
SCRIPT = [
    Turn(tools=[READ, ToolUse("sum", {"a": 2, "b": 3}), ToolUse("skills_look_well", {})]),
    Turn(tools=[ToolUse("destructive-check-status", {})]),
    Turn(tools=[ToolUse("sum_dies", {})]),
    Turn(tools=[READ, ToolUse("sum", {"a": 4, "b": 5}), ToolUse("bash", {"command": "echo here"})]),
    Turn(text="Done."),
]


@pytest.mark.proc
async def test_published_plugins_and_a_tool_without_a_network(
    home: Path, project: Path, user_environ: dict[str, str]
) -> None:
    """What they consist of was fetched before. Their process ends in the turn, which goes on."""
    if cable.refusal():
        pytest.skip(cable.refusal())
    (project / "secret").write_text("nobody is to know\n")
    environ = {**npm(user_environ), **on_bun(user_environ), "OPENCODE_WEB_HOOK_SECONDS": "10"}
    async with with_files(home, project, [Turn(text="Hey.")], FILES, environ) as (client, *_):
        await client.prompt((await client.create_session("fetches"))["id"], "Hello.")
    async with _cut_off(home, project, environ) as client:
        session = (await client.create_session("cut off"))["id"]
        await client.prompt(session, "Do it all.")
        messages = await client.messages(session)
    states = [(part["tool"], part["state"]) for part in parts_of(messages, "tool")]
    told = [state.get("error") or state["output"].strip() for tool, state in states if "check" not in tool]
    ended, *_ = [error for error in told if error.startswith("The tool failed: its process has ended")]
    assert told == [
        *("That is secret.", "5", "Launching skill: look-well"),
        ended,
        *("That is secret.", "9", "here"),
    ]
    assert "Look at it twice." in str(messages)
    [checked] = [json.loads(state["output"]) for tool, state in states if "check" in tool]
    assert checked["session"]["checked"] == len(SCRIPT[0].tools) + 1
    assert parts_of(messages, "text")[-1]["text"] == "Done."


@asynccontextmanager
async def _cut_off(home: Path, project: Path, environ: Mapping[str, str]) -> AsyncIterator[Client]:
    """The server at the other end of a cable that leads to its model and nowhere else."""
    line = cable.Cable()
    await asyncio.to_thread(line.lay)
    try:
        async with OpenAIServer(SCRIPT) as model:
            port = urlsplit(model.base_url).port
            async with cable.passage(
                line.here, lambda: asyncio.open_connection("127.0.0.1", port)
            ) as answers:
                config = model_config(f"http://{line.here}:{answers}/v1", permission=RULES)
                server = Server(home, project, config, environ, prefix=line.prefix)
                await asyncio.to_thread(server.start, "--hostname", line.there)
                try:
                    async with server.client() as client:
                        yield client
                finally:
                    await asyncio.to_thread(server.stop)
    finally:
        await asyncio.to_thread(line.remove)

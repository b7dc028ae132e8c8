"""A history with every kind of session: what OpenCode made of it is the same here, and in another OpenCode
that it goes on to from here."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client
from tests import opencode
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import HttpError, ToolUse, Turn, Wait
from tests.protocol.conftest import repository
from tests.protocol.served import Script
from tests.protocol.test_import import OURS, PNG, said
from tests.server import ROOT, Server, model_config, until

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

MODEL = {"providerID": "fake", "modelID": "fake"}
RULES = [
    {"permission": "webfetch", "pattern": "*", "action": "deny"},
    {"permission": "bash", "pattern": "git *", "action": "allow"},
]
DIFFERENCES = {
    "*.projectID": "a project is a folder here",
    "*.path": "of a folder that is in no repository OpenCode tells nothing of use",
    "message.*.metadata.field": "what reasoning is sent back by: 0046",
    "*.permission.*": "what allows something is not taken from a file: 0046",
}
"""What of a session is otherwise here, and why."""
LOST = {"todo.*": "a file of one session that OpenCode writes or reads has no list"}
"""What does not come back to OpenCode, and why."""


class Maker:
    """What a person does with OpenCode in a folder, and what the model answers."""

    def __init__(self, client: Client, folder: Path, model: OpenAIServer, script: Script) -> None:
        client.http.params = client.http.params.set("directory", str(folder))
        self.client, self.folder, self.model, self.script = client, folder, model, script

    async def session(self, *turns: Turn, **fields: Any) -> str:
        """A new one with one prompt, which is answered by these."""
        session = (await self.client.post("/session", fields))["id"]
        await self.prompt(session, *turns)
        return str(session)

    async def prompt(self, session: str, *turns: Turn, **fields: Any) -> None:
        self.script.turns.extend(turns)
        await self.client.prompt(session, "Do it well", **fields)
        self.script.turns.clear()

    async def tools(self) -> None:
        uses = [
            ToolUse("read", {"filePath": str(self.folder / "hello.py")}),
            ToolUse("write", {"filePath": str(self.folder / "new.py"), "content": "x = 1\n"}),
            ToolUse("glob", {"pattern": "*.py"}),
            ToolUse("grep", {"pattern": "hello"}),
            ToolUse("bash", {"command": "echo hi", "description": "Say hi"}),
        ]
        edit = {"filePath": str(self.folder / "new.py"), "oldString": "1", "newString": "2"}
        first = Turn(reasoning="I look first.", text="I look.", tools=uses)
        await self.session(first, Turn(tools=[ToolUse("edit", edit)]), Turn(text="Done: **new.py**."))

    async def errors(self) -> None:
        edit = {"filePath": str(self.folder / "none.py"), "oldString": "a", "newString": "b"}
        fails = {"command": "exit 3", "description": "Fail"}
        uses = [ToolUse("bash", fails), ToolUse("edit", edit), ToolUse("nonsense", {"a": 1})]
        await self.session(Turn(tools=uses), Turn(text="None of it."))

    async def todos(self) -> None:
        wanted = [
            {"content": text, "status": state, "priority": "high"}
            for text, state in (("One", "completed"), ("Two", "in_progress"), ("Three", "pending"))
        ]
        await self.session(Turn(tools=[ToolUse("todowrite", {"todos": wanted})]), Turn(text="Noted."))

    async def files(self) -> None:
        session = await self.session(Turn(text="Show me."))
        picture = {"type": "file", "mime": "image/png", "filename": "p.png", "url": PNG}
        url = (self.folder / "hello.py").as_uri()
        text = {"type": "file", "mime": "text/plain", "filename": "hello.py", "url": url}
        parts = [{"type": "text", "text": "Look at these"}, picture, text]
        self.script.turns.append(Turn(text="Seen."))
        await self.client.post(f"/session/{session}/message", {"parts": parts})

    async def compaction(self) -> None:
        session = await self.session(Turn(text="It was long."))
        self.script.turns.append(Turn(text="A summary."))
        await self.client.post(f"/session/{session}/summarize", MODEL)
        await self.prompt(session, Turn(text="And on."))

    async def subagent(self) -> None:
        errand = {"description": "Look", "prompt": "Look around", "subagent_type": "general"}
        child, end = Turn(text="There is hello.py."), Turn(text="So it is.")
        await self.session(Turn(tools=[ToolUse("task", errand)]), child, end)

    async def fork(self) -> None:
        session = await self.session(Turn(text="First."))
        copy = (await self.client.post(f"/session/{session}/fork"))["id"]
        await self.prompt(copy, Turn(text="Otherwise."))

    async def undone(self) -> None:
        session = await self.session(Turn(text="First."))
        write = {"filePath": str(self.folder / "undone.py"), "content": "y = 1\n"}
        await self.prompt(session, Turn(tools=[ToolUse("write", write)]), Turn(text="Second."))
        prompts = [
            entry["info"]["id"]
            for entry in await self.client.messages(session)
            if entry["info"]["role"] == "user"
        ]
        await self.client.revert(session, prompts[1])

    async def stopped(self) -> None:
        """Once in the middle of a text, once in a call."""
        for turn in (
            Turn(text=["It begins", Wait("never"), " and ends"]),
            Turn(tools=[ToolUse("bash", {"command": "sleep 600", "description": "Wait"})]),
        ):
            self.script.turns.append(turn)
            session = (await self.client.create_session())["id"]
            async with self.client.events() as events:
                await self.client.prompt_async(session, "Take your time")
                async for event in events:
                    part = event.properties.get("part", {})
                    if event.type == "message.part.delta" or part.get("state", {}).get("status") == "running":
                        break
                await self.client.abort(session)
                await until(events, "session.idle", sessionID=session)

    async def refused(self) -> None:
        self.script.turns.append(Turn(fault=HttpError(400, "the model is out of order")))
        session = (await self.client.create_session())["id"]
        async with self.client.events() as events:
            await self.client.prompt_async(session, "Try")
            await until(events, "session.idle", sessionID=session)

    async def archived(self) -> None:
        session = await self.session(Turn(text="Put me away."))
        await self.client.http.patch(f"/session/{session}", json={"time": {"archived": 1_790_000_000_000}})

    async def renamed(self) -> None:
        session = await self.session(Turn(text="Who am I?"))
        await self.client.http.patch(f"/session/{session}", json={"title": "Ünicode & <b>"})

    async def command(self) -> None:
        session = (await self.client.create_session())["id"]
        self.script.turns.append(Turn(text="Greeted."))
        body = {"command": "greet", "arguments": "you 'and me'"}
        await self.client.post(f"/session/{session}/command", body)

    async def shell(self) -> None:
        session = (await self.client.create_session())["id"]
        await self.client.post(f"/session/{session}/shell", {"agent": "build", "command": "echo typed"})

    async def plan(self) -> None:
        session = await self.session(Turn(text="Built."))
        other = {"providerID": "fake", "modelID": "other"}
        await self.prompt(session, Turn(text="Planned."), agent="plan", model=other)

    async def ruled(self) -> None:
        await self.session(Turn(text="Within rules."), permission=RULES, metadata={"from": "a test"})

    async def empty(self) -> None:
        await self.client.create_session("Nothing yet")

    async def talk(self) -> None:
        await self.session(Turn(text="Here."))


EVERYWHERE: tuple[Callable[[Maker], Awaitable[None]], ...] = (Maker.talk,)
IN_PROJECT = (
    *(Maker.tools, Maker.errors, Maker.todos, Maker.files, Maker.compaction, Maker.subagent, Maker.fork),
    *(Maker.undone, Maker.stopped, Maker.refused, Maker.archived, Maker.renamed, Maker.command, Maker.shell),
    *(Maker.plan, Maker.ruled, Maker.empty),
)


async def test_every_kind_of_session_over_and_back(user_environ: dict[str, str], tmp_path: Path) -> None:
    program = opencode.program(user_environ)
    for name in ("project", "plain"):
        (tmp_path / name).mkdir()
    project = repository(tmp_path / "project")
    (project / ".opencode/command").mkdir(parents=True)
    (project / ".opencode/command/greet.md").write_text("Greet $1 and $ARGUMENTS.")
    tree = tmp_path / "tree"
    await said(["git", "worktree", "add", "-q", str(tree)], os.environ, project)
    folders = [project, project / "src", tree, tmp_path / "plain"]
    script = Script()
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url)
        config["provider"]["fake"]["models"]["other"] = config["provider"]["fake"]["models"]["fake"]
        environ = opencode.environment(tmp_path / "theirs", config=config)
        with opencode.serving(program, tmp_path / "theirs", environ) as url:
            for folder in folders:
                async with Client(url, "") as client:
                    maker = Maker(client, folder, model, script)
                    for kind in IN_PROJECT if folder == project else EVERYWHERE:
                        await kind(maker)
            there = await _told(url, "", folders)
    assert len(there) == 20 + len(folders[1:])
    ours = Server(tmp_path / "ours", project, config)
    ours.home.mkdir()
    data = tmp_path / "theirs/.local/share/opencode"
    summary = await said([*OURS, "import", str(data), "--yes"], ours.environment(), ROOT)
    assert f"Sessions: {len(there)} imported." in summary
    await asyncio.to_thread(ours.start)
    try:
        here = await _told(ours.url, ours.environment()["OPENCODE_SERVER_PASSWORD"], folders)
    finally:
        await asyncio.to_thread(ours.stop)
    _same(there, here)
    back = tmp_path / "back"
    back.mkdir()
    environ = opencode.environment(tmp_path / "again", config=config)
    for id, session in sorted(there.items(), key=lambda item: "parentID" in item[1]["info"]):
        await said([*OURS, "export", id, "--output", str(back / f"{id}.json")], ours.environment(), ROOT)
        folder = Path(session["info"]["directory"])
        await said([str(program), "import", str(back / f"{id}.json")], environ, folder)
    with opencode.serving(program, tmp_path / "again", environ) as url:
        again = await _told(url, "", folders)
    _same(there, again, LOST)


async def _told(url: str, password: str, folders: Iterable[Path]) -> dict[str, Any]:
    """All that a server has of the sessions of some folders, by their ids."""
    found: dict[str, Any] = {}
    async with Client(url, password) as client:
        for folder in folders:
            for info in await client.get("/session", directory=str(folder), limit=1000):
                if info["directory"] != str(folder) or info["id"] in found:
                    continue
                parts = {
                    name: await client.get(f"/session/{info['id']}/{name}", directory=str(folder))
                    for name in ("message", "todo", "children")
                }
                children = sorted(child["id"] for child in parts.pop("children"))
                found[info["id"]] = {"info": info, **parts, "children": children}
    return found


def _same(there: Mapping[str, Any], here: Mapping[str, Any], besides: Iterable[str] = ()) -> None:
    different = sorted(_different(there, here, [*DIFFERENCES, *besides]))
    assert not different, "\n".join(different)


def _different(there: Mapping[str, Any], here: Mapping[str, Any], known: Sequence[str]) -> Iterator[str]:
    for id in there.keys() | here.keys():
        left, right = dict(_flat(there.get(id))), dict(_flat(here.get(id)))
        for place in left.keys() | right.keys():
            one, other = left.get(place), right.get(place)
            if one != other and not any(fnmatchcase(place, pattern) for pattern in known):
                title = there.get(id, {}).get("info", {}).get("title")
                yield f"{title} {place}: {one!r} there, {other!r} here"


def _flat(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """The values that are neither objects nor lists, by their places; what is nothing is not there."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    elif value is not None:
        yield place, json.dumps(float(value) if type(value) is int else value)
    for key, item in items:
        yield from _flat(item, f"{place}.{key}" if place else str(key))

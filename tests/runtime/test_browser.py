"""An agent that looks at what it has built: in whole turns, asked about, stopped, and not there while off."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sessions.core import variables
from sessions.core.platform.processes import processes
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn, Wait
from tests.runtime.asking import stage
from tests.server import Server, model_config, parts_of, running, serving, until

PAGE = """<!doctype html><title>Counter</title><h1>Counter</h1>
<button id="up">Up</button><p role="status">0</p>
<script>up.onclick = () => (document.querySelector("[role=status]").textContnet = "1");</script>"""
WRONG, RIGHT = "textContnet", "textContent"
UP = "for i in $(seq 200); do (echo > /dev/tcp/127.0.0.1/{port}) 2> /dev/null && break; sleep 0.05; done"
ASKING = {"*": "allow", "browser": "ask"}


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


def browse(action: str, **given: Any) -> Turn:
    return Turn(tools=[ToolUse("browser", {"action": action, **given})])


def serve(port: int) -> Turn:
    line = f"(python3 -m http.server {port} --bind 127.0.0.1 > server.log 2>&1 &); {UP.format(port=port)}"
    return Turn(tools=[ToolUse("bash", {"command": line, "description": "Serve the project"})])


@pytest.fixture
def environ(chromium_path: str) -> Mapping[str, str]:
    return {variables.CHROMIUM.name: chromium_path}


@pytest.mark.proc  # Chromium on Linux
async def test_an_agent_builds_a_page_looks_at_it_and_mends_it(
    home: Path, project: Path, environ: Mapping[str, str]
) -> None:
    port = free_port()
    url = f"http://localhost:{port}/index.html"
    mending = {"filePath": "index.html", "oldString": WRONG, "newString": RIGHT}
    script = [
        Turn(tools=[ToolUse("write", {"filePath": "index.html", "content": PAGE})]),
        serve(port),
        browse("open", url=url),
        browse("look", picture=True),
        browse("click", ref="e1"),
        browse("look"),
        Turn(tools=[ToolUse("edit", mending)]),
        browse("open", url=url),
        browse("look"),
        browse("click", ref="e2"),
        browse("look"),
        browse("close"),
        Turn(text="It counts."),
    ]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, browser=True, permission=ASKING)
        async with running(Server(home, project, config, environ)) as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            await client.prompt_async(session, "Build a counter.")
            asked = (await until(events, "permission.asked")).properties
            site = f"http://localhost:{port}"
            assert (asked["permission"], asked["patterns"], asked["always"]) == ("browser", [site], [site])
            assert asked["metadata"]["url"] == url
            await client.reply(asked["id"], "always")
            await until(events, "session.idle")
            parts = parts_of(await client.messages(session), "tool")
        states = [part["state"] for part in parts if part["tool"] == "browser"]
        assert [state["status"] for state in states] == ["completed"] * 9, states
        opened, looked, clicked, before, *_, after, _ = states
        assert opened["output"].startswith(f"{url} · 'Counter'")
        assert opened["title"] == f"Open {url}"
        assert '- button "Up" [e1]' in looked["output"]
        (picture,) = looked["attachments"]
        assert picture["mime"] == "image/png"
        assert clicked["title"] == f'Click button "Up" · {site}'
        assert "- status: 0" in before["output"]
        assert "- status: 1" in after["output"]
        shown = str(model.requests[4].body)
        assert "data:image/png;base64," in shown, "the model has the picture"


async def test_while_it_is_off_nobody_hears_of_it(home: Path, project: Path) -> None:
    async with serving(home, project, [Turn(text="Hello.")]) as (client, model):
        ids = (await client.http.get("/experimental/tool/ids")).json()
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Hello.")
        offered = {tool["function"]["name"] for tool in model.requests[0].body["tools"]}
    assert "browser" not in ids
    assert "browser" not in offered
    async with serving(home, project, [Turn(text="Hello.")], browser=True) as (client, model):
        ids = (await client.http.get("/experimental/tool/ids")).json()
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Hello.")
        offered = {tool["function"]["name"] for tool in model.requests[0].body["tools"]}
    assert "browser" in ids
    assert "browser" in offered


@pytest.mark.proc  # Chromium on Linux
async def test_the_servers_own_pages_are_not_opened(
    home: Path, project: Path, environ: Mapping[str, str]
) -> None:
    answers: list[Turn] = []

    def script(_: object) -> Turn:
        return answers.pop(0)

    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, browser=True)
        async with running(server := Server(home, project, config, environ)) as client:
            answers += [browse("open", url=server.url), Turn(text="No.")]
            session = (await client.create_session(title="named"))["id"]
            await client.prompt(session, "Look at yourself.")
            (part,) = parts_of(await client.messages(session), "tool")
    assert "this program's own, where the person is signed in" in part["state"]["error"]


def chromiums() -> set[int]:
    found = set()
    for pid in processes():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"--remote-debugging-pipe" in line and b"--type=" not in line:
            found.add(pid)
    return found


@pytest.mark.proc  # Chromium on Linux
@pytest.mark.parametrize("ending", ["stop", "shutdown", "end"])
async def test_a_browser_ends_with_a_turn_that_is_stopped_and_with_the_server(
    home: Path, project: Path, environ: Mapping[str, str], ending: str
) -> None:
    port = free_port()
    script = [serve(port), browse("open", url=f"http://localhost:{port}/hello.py")]
    script += [Turn(text=["I am", Wait("go"), " done."]), Turn(text="Yes.")]
    before = chromiums()
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, browser=True)
        async with running(Server(home, project, config, environ)) as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            await client.prompt_async(session, "Look.")
            await until(events, "message.part.delta", sessionID=session)
            assert chromiums() - before
            if ending == "stop":
                await client.post(f"/session/{session}/abort", {})
                await until(events, "session.idle", sessionID=session)
                assert not chromiums() - before
            elif ending == "end":
                model.gate("go").open()
                await until(events, "session.idle", sessionID=session)
                assert chromiums() - before, "it waits for the next turn"
        assert not chromiums() - before


async def test_a_person_who_says_no_ends_the_call(home: Path, project: Path, chromium_path: str) -> None:
    script = [browse("open", url="http://localhost:9/"), Turn(text="I will not.")]
    async with stage(home, project, script, browser=True, permission=ASKING) as acting:
        session = await acting.session()
        asked = await acting.asked(session)
        await acting.reply(asked, reply="reject", message="Not now.")
        await acting.idle(session)
        assert await acting.statuses(session) == ["error"]

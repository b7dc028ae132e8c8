"""Forks through the real server: a fork answers for its own changes alone, and takes along what waits."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn, Wait
from tests.runtime.cast import Cast, cast, task
from tests.server import Server, model_config, running, serving, until

LINES = "".join(f"line {number}\n" for number in range(1, 31))


def base(session: dict[str, Any]) -> str:
    return f"/p/{session['projectID']}/s/{session['id']}"


def change(number: int, to: str) -> ToolUse:
    edit = {"filePath": "a.txt", "oldString": f"line {number}\n", "newString": f"{to}\n"}
    return ToolUse("edit", edit)


async def forked(client: Client, session: dict[str, Any], **form: str) -> dict[str, Any]:
    """The fork that the page's form makes."""
    answer = await client.http.post(f"{base(session)}/fork", data=form)
    return await client.session(answer.headers["HX-Redirect"].rpartition("/")[2])


async def test_an_undo_in_a_fork_takes_back_only_what_the_fork_changed(home: Path, project: Path) -> None:
    file = project / "a.txt"
    file.write_text(LINES)
    script = [
        Turn(tools=[ToolUse("read", {"filePath": "a.txt"})]),
        Turn(tools=[change(2, "line two")]),
        Turn(text="Done."),
        Turn(
            tools=[change(25, "line twenty-five"), ToolUse("write", {"filePath": "b.txt", "content": "b\n"})]
        ),
        Turn(text="Done too."),
    ]
    async with serving(home, project, script) as (client, _):
        original = await client.create_session("named")
        await client.prompt(original["id"], "First.")
        fork = await forked(client, original)
        await client.prompt(fork["id"], "Second.")
        both = LINES.replace("line 2\n", "line two\n")
        assert file.read_text() == both.replace("line 25\n", "line twenty-five\n")
        prompts = [entry["info"]["id"] for entry in await client.messages(fork["id"])]
        await client.revert(fork["id"], prompts[0])
        assert file.read_text() == both
        assert not (project / "b.txt").exists()
        await client.unrevert(fork["id"])
        first = (await client.messages(original["id"]))[0]["info"]["id"]
        await client.revert(original["id"], first)
        assert file.read_text() == LINES.replace("line 25\n", "line twenty-five\n")


async def test_what_a_subagent_changed_after_the_point_is_not_in_the_worktree(
    home: Path, project: Path
) -> None:
    played = Cast(
        Parent=[Turn(text="Ready."), Turn(tools=[task("First", "worker")]), Turn(text="Seen.")],
        First=[Turn(tools=[ToolUse("write", {"filePath": "below.txt", "content": "x\n"})]), Turn(text="ok")],
    )
    async with cast(home, project, played) as (client, _, server):
        original = await client.create_session("named")
        await client.prompt(original["id"], "Parent")
        await client.prompt(original["id"], "Go on.")
        assert (project / "below.txt").exists()
        messages = [entry["info"] for entry in await client.messages(original["id"])]
        second = [info["id"] for info in messages if info["role"] == "user"][1]
        shown = (await client.http.get(f"{base(original)}/fork/files", params={"before": second})).text
        assert "Will be removed: it did not exist before." in shown
        fork = await forked(client, original, before=second, **{"with": "files"})
        folder = Path(fork["directory"])
        assert folder.is_relative_to(server.data / "worktrees")
        assert sorted(path.name for path in folder.iterdir()) == [".git", "hello.py"]
        assert (project / "below.txt").exists()
        whole = await forked(client, original, **{"with": "files"})
        assert (Path(whole["directory"]) / "below.txt").exists()
        pages = (await client.http.get(base(original))).text
        assert (base(fork) in pages, base(whole) in pages) == (True, True)
        assert f"Forked from {original['title']}" in (await client.http.get(base(fork))).text
        cards = (await client.http.get(base(whole))).text
        child = (await client.get(f"/session/{original['id']}/children"))[0]["id"]
        assert child not in cards


async def test_what_waits_in_review_mode_comes_along_at_the_end(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("write", {"filePath": "new.txt", "content": "new\n"})]), Turn(text="Done.")]
    async with serving(home, project, script) as (client, _):
        original = await client.create_session("named")
        await client.http.patch(f"/session/{original['id']}", json={"staging": True})
        await client.prompt(original["id"], "First.")
        fork = await forked(client, original, **{"with": "files"})
        listed = (await client.http.get(f"{base(fork)}/staging/files")).text
        assert "new.txt" in listed
        drawn = re.findall(r'name="drawn" value="([^"]+)"', listed)
        await client.http.post(f"{base(fork)}/staging/keep", data={"drawn": drawn})
        assert (Path(fork["directory"]) / "new.txt").read_text() == "new\n"
        assert not (project / "new.txt").exists()
        assert "new.txt" in (await client.http.get(f"{base(original)}/staging/files")).text
        first = (await client.messages(original["id"]))[0]["info"]["id"]
        earlier = await forked(client, original, before=first)
        assert "new.txt" not in (await client.http.get(f"{base(earlier)}/staging/files")).text


async def test_clients_of_the_protocol_are_not_told_of_forks_otherwise(home: Path, project: Path) -> None:
    async with serving(home, project, [Turn(text="Done.")]) as (client, _):
        original = await client.create_session("named")
        seen = []
        async with client.events() as events:
            fork = await client.post(f"/session/{original['id']}/fork")
            await client.create_session("last")
            async for event in events:
                seen.append(event)
                if event.properties.get("info", {}).get("title") == "last":
                    break
        assert fork["id"] in {event.session_id for event in seen}
        assert "session.forked" not in {event.type for event in seen}


@pytest.mark.parametrize("query", [{"before": "msg_unknown"}, {"after": "msg_unknown"}])
async def test_a_fork_from_what_is_no_message(home: Path, project: Path, query: dict[str, str]) -> None:
    async with serving(home, project, []) as (client, _):
        session = await client.create_session("named")
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            await client.http.get(f"{base(session)}/fork", params=query)
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            await client.http.post(f"{base(session)}/fork", data=query)
        assert len(await client.sessions()) == 1


async def test_a_crash_is_in_the_timeline(home: Path, project: Path) -> None:
    async with OpenAIServer([Turn(text=["begun", Wait("never")])]) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client:
            session = await client.create_session("named")
            async with client.events() as events:
                await client.prompt_async(session["id"], "Go.")
                await until(events, "message.part.delta", sessionID=session["id"])
        await asyncio.to_thread(server.kill)
        async with running(server) as client, client.events() as events:
            if (await client.status()).get(session["id"]):
                await until(events, "session.idle", sessionID=session["id"])
            page = (await client.http.get(f"{base(session)}/timeline")).text
            assert "Interrupted: the server ended" in page

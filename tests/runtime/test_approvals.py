"""Whole turns: a proposal that a person changes before allowing it; a file that changes before they do."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from sessions.changes.diffs.hunks import hunks, without
from tests.loopback.script import ToolUse, Turn
from tests.runtime.asking import Stage, stage, turns
from tests.server import parts_of, until

EDIT = ToolUse("edit", {"filePath": "hello.py", "oldString": "return 'hello'", "newString": "return 'bye'"})
SENTENCE = "The user changed this edit before allowing it."


def told(on: Stage, request: int = 1) -> str:
    """The result of the call as the model read it in its n-th request."""
    messages = on.model.requests[request].body["messages"]
    return str(next(message["content"] for message in reversed(messages) if message["role"] == "tool"))


async def card(on: Stage, session: str) -> dict[str, Any]:
    (part,) = parts_of(await on.client.messages(session), "tool")
    return dict(part["state"])


async def test_what_the_person_wrote_is_applied_told_and_undone(home: Path, project: Path) -> None:
    file = project / "hello.py"
    before = file.read_text()
    mine = before.replace("'hello'", "'welcome'")
    async with stage(home, project, turns(EDIT)) as on:
        session = await on.session()
        asked = await on.asked()
        shown = asked["metadata"]["filediff"]
        assert (shown["before"], shown["after"]) == (before, before.replace("'hello'", "'bye'"))
        await on.reply(
            asked, reply="once", hash=asked["hash"], replacement={asked["metadata"]["filepath"]: mine}
        )
        await on.idle(session)
        assert file.read_text() == mine
        assert SENTENCE in told(on)
        assert "-    return 'bye'\n+    return 'welcome'\n" in told(on)
        state = await card(on, session)
        assert state["metadata"]["filediff"]["after"] == mine
        assert SENTENCE in state["output"]
        prompt = (await on.client.messages(session))[0]["info"]["id"]
        await on.client.revert(session, prompt)
        assert file.read_text() == before, "the ledger has what was applied"


async def test_some_hunks_are_allowed_and_others_not(home: Path, project: Path) -> None:
    file = project / "many.txt"
    lines = [f"line {number}\n" for number in range(40)]
    file.write_text("".join(lines))
    changed = "".join(lines).replace("line 3\n", "LINE 3\n").replace("line 33\n", "LINE 33\n")
    write = ToolUse("write", {"filePath": "many.txt", "content": changed})
    async with stage(home, project, turns(write)) as on:
        session = await on.session()
        asked = await on.asked()
        shown = asked["metadata"]["filediff"]
        before, after = shown["before"].encode(), shown["after"].encode()
        _, second = hunks(before, after).hunks
        left = without(before, after, [second.key]).decode()
        await on.reply(asked, reply="once", replacement={asked["metadata"]["filepath"]: left})
        await on.idle(session)
        assert file.read_text() == "".join(lines).replace("line 3\n", "LINE 3\n")
        assert "-LINE 33\n+line 33\n" in told(on)


async def test_a_patch_of_two_files_with_one_taken_out(home: Path, project: Path) -> None:
    (project / "b.txt").write_bytes(b"old\r\n")
    text = "\n".join(
        [
            "*** Begin Patch",
            "*** Update File: hello.py",
            "-def hello():",
            "+def hallo():",
            "*** Update File: b.txt",
            "-old",
            "+new",
            "*** End Patch",
        ]
    )
    patch = ToolUse("apply_patch", {"patchText": text})
    async with stage(home, project, turns(patch)) as on:
        session = await on.session()
        asked = await on.asked()
        hello, other = (entry["filepath"] for entry in asked["metadata"]["files"])
        with pytest.raises(httpx.HTTPStatusError):
            await on.reply(asked, reply="once", replacement={str(project / "c.txt"): "not proposed"})
        await on.reply(asked, reply="once", replacement={hello: None, other: "mine\n"})
        await on.idle(session)
        assert "def hello()" in (project / "hello.py").read_text()
        assert (project / "b.txt").read_bytes() == b"mine\r\n"
        assert not (project / "c.txt").exists()
        assert "hello.py: The user took this change out" in told(on)
        assert f"b.txt: {SENTENCE}" in told(on)


async def test_nothing_is_applied_when_everything_was_taken_out(home: Path, project: Path) -> None:
    async with stage(home, project, turns(EDIT)) as on:
        session = await on.session()
        asked = await on.asked()
        await on.reply(asked, reply="once", replacement={asked["metadata"]["filepath"]: None})
        await on.idle(session)
        assert "'hello'" in (project / "hello.py").read_text()
        assert "nothing was applied" in told(on)
        assert on.rows("SELECT id FROM opencode_sessions_filechange") == []


async def test_a_file_that_changes_while_the_proposal_waits_is_proposed_anew(
    home: Path, project: Path
) -> None:
    file = project / "hello.py"
    async with stage(home, project, turns(EDIT)) as on:
        session = await on.session()
        first = await on.asked()
        file.write_text(file.read_text().replace("'hello'", "'hello'  # mine"))
        await until(on.events, "permission.replied", requestID=first["id"], reply="reject")
        second = await on.asked()
        assert second["metadata"]["filediff"]["before"].endswith("# mine\n")
        assert second["metadata"]["again"] == 1
        with pytest.raises(httpx.HTTPStatusError):
            await on.reply(first, reply="once")
        with pytest.raises(httpx.HTTPStatusError):
            await on.reply(second, reply="once", hash=first["hash"])
        await on.reply(second, reply="once", hash=second["hash"])
        await on.idle(session)
        assert file.read_text() == "def hello():\n    return 'bye'  # mine\n"
        assert on.decisions() == [("cancel", "call", ""), ("allow", "person", "once")]


async def test_a_change_elsewhere_in_the_file_leaves_the_proposal(home: Path, project: Path) -> None:
    file = project / "hello.py"
    async with stage(home, project, turns(EDIT)) as on:
        session = await on.session()
        asked = await on.asked()
        file.write_text("# mine\n" + file.read_text())
        await on.reply(asked, reply="once", hash=asked["hash"])
        await on.idle(session)
        assert file.read_text() == "# mine\ndef hello():\n    return 'bye'\n"
        assert on.decisions() == [("allow", "person", "once")]
        await on.client.revert(session, (await on.client.messages(session))[0]["info"]["id"])
        assert file.read_text() == "# mine\ndef hello():\n    return 'hello'\n"


async def test_an_edit_that_no_longer_fits_says_so(home: Path, project: Path) -> None:
    file = project / "hello.py"
    async with stage(home, project, turns(EDIT)) as on:
        session = await on.session()
        asked = await on.asked()
        file.write_text("mine\n")
        await until(on.events, "permission.replied", requestID=asked["id"])
        await on.idle(session)
        assert file.read_text() == "mine\n"
        assert "changed while this edit waited for approval" in told(on)


async def test_a_change_between_the_last_look_and_the_answer_is_not_overwritten(
    home: Path, project: Path
) -> None:
    """The person's file is written right before the answer: either look finds it."""
    file = project / "hello.py"
    async with stage(home, project, [Turn(tools=[EDIT]), Turn(text="Done.")]) as on:
        session = await on.session()
        asked = await on.asked()
        file.write_text(file.read_text().replace("'hello'", "'hello'  # mine"))
        with suppress(httpx.HTTPStatusError):  # a look may have come first
            await on.reply(asked, reply="once")
        again = await on.asked()
        assert again["id"] != asked["id"]
        await on.reply(again, reply="reject", message="leave it")
        await on.idle(session)
        assert file.read_text() == "def hello():\n    return 'hello'  # mine\n"
        assert ("cancel", "call", "") in on.decisions()

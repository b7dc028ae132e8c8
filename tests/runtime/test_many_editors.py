"""Sessions that edit the same files at the same time: each change goes to its place."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.runtime.cast import Cast, Played, cast
from tests.server import parts_of

SESSIONS, FILES, ROUNDS = 12, 4, 6
"""Each session makes an edit a round; lines of different sessions touch each other."""


def script(number: int) -> list[Played]:
    def edit(step: int) -> Turn:
        line = f"{number:02} {step} line"
        given = {
            "filePath": f"file{(number + step) % FILES}.txt",
            "oldString": line,
            "newString": f"{line}, edited",
        }
        return Turn(tools=[ToolUse("edit", given)])

    reads = [ToolUse("read", {"filePath": f"file{name}.txt"}) for name in range(FILES)]
    return [Turn(tools=reads), *(edit(step) for step in range(ROUNDS)), Turn(text="Done.")]


@pytest.mark.long
async def test_twelve_sessions_edit_the_same_files(home: Path, project: Path) -> None:
    text = "".join(f"{number:02} {step} line\n" for step in range(ROUNDS) for number in range(SESSIONS))
    for name in range(FILES):
        (project / f"file{name}.txt").write_text(text)
    parts = {f"session{number:02}": script(number) for number in range(SESSIONS)}
    async with cast(home, project, Cast(**parts)) as (client, _, _):
        sessions = [(await client.create_session(title=word))["id"] for word in parts]
        await asyncio.gather(*map(client.prompt, sessions, parts))
        calls = [part for session in sessions for part in parts_of(await client.messages(session), "tool")]
        edits = [part["state"] for part in calls if part["tool"] == "edit"]
        assert [state for state in edits if state["status"] != "completed"] == []
        assert len(edits) == SESSIONS * ROUNDS
        for name in range(FILES):
            expected = [
                f"{number:02} {step} line{', edited' * ((number + step) % FILES == name)}"
                for step in range(ROUNDS)
                for number in range(SESSIONS)
            ]
            assert (project / f"file{name}.txt").read_text().splitlines() == expected
        assert any("Others changed" in state["output"] for state in edits)
        first = (await client.messages(sessions[0]))[0]["info"]["id"]
        await client.revert(sessions[0], first)
        left = "".join((project / f"file{name}.txt").read_text() for name in range(FILES))
        assert left.count(", edited") == (SESSIONS - 1) * ROUNDS

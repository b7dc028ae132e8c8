"""Reviewing a large turn, and taking it back after somebody else has written in the same files."""

from __future__ import annotations

import shlex
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

from bench.client import Client
from bench.lab import Lab
from bench.model import prompt
from bench.project import file, line
from bench.stats import median
from bench.targets import OURS
from bench.turns import Driver, TurnFailed, driving
from tests.loopback.script import ToolUse

REVIEWED = 500
UNDONE = 50
CHANGED = "changed_by_the_agent"
MINE = "mine = True\n"


async def measure(lab: Lab) -> dict[str, float]:
    """The net diff of a turn as clients ask for it, and our panel of it as the page gets it: a document of
    patches, and HTML with what became of each file on the disk."""
    documents, panels = [], []
    async with lab.server() as server, driving(server.client) as driver:
        session, message = await _turn(driver, server.client, lab.project, REVIEWED)
        row = await server.client.session(session)
        for _ in range(lab.count(20)):
            documents.append(await _timed(_document(server.client, session, message)))
            if lab.target is OURS:
                panels.append(await _timed(_panel(server.client, row, message)))
    found = {"diff of 500 files (ms)": median(documents)}
    return found | {"review of 500 files opens (ms)": median(panels)} if panels else found


async def merges(lab: Lab) -> dict[str, float]:
    """Ours alone: OpenCode's revert would put the files back as they were, with the person's lines gone."""
    if lab.target is not OURS:
        return {}
    undone, redone = [], []
    async with lab.server() as server, driving(server.client) as driver:
        session, message = await _turn(driver, server.client, lab.project, UNDONE)
        paths = [file(lab.project, number) for number in range(UNDONE)]
        for path in paths:
            path.write_text(path.read_text() + MINE)
        for _ in range(lab.count(10)):
            undone.append(await _timed(server.client.revert(session, message)))
            _expect_files(paths, agents=False)
            redone.append(await _timed(server.client.unrevert(session)))
            _expect_files(paths, agents=True)
    return {"undo of 50 files with merges (ms)": median(undone), "its redo (ms)": median(redone)}


async def _turn(driver: Driver, client: Client, project: Path, files: int) -> tuple[str, str]:
    """A turn in which one command changes a line of that many files: session and prompt."""
    await driver.warm_up()
    session = await driver.session()
    names = " ".join(shlex.quote(str(file(project, number))) for number in range(files))
    first = line(0, 0).partition("_of_")[0]
    command = f"sed -i 's/^{first}_of_.*/{CHANGED} = 1/' {names}"
    await driver.turn(session, prompt(tools=[ToolUse("bash", {"command": command, "description": "Edit"})]))
    return session, str((await client.messages(session))[0]["info"]["id"])


async def _document(client: Client, session: str, message: str) -> None:
    found = len(await client.diff(session, message))
    _expect(found == REVIEWED, f"{found} of {REVIEWED} files came")


async def _panel(client: Client, session: dict[str, Any], message: str) -> None:
    place = f"/p/{session['projectID']}/s/{session['id']}/review"
    answer = await client.http.get(place, params={"scope": "turn", "message": message})
    for number in (0, REVIEWED - 1):
        _expect(f"module_{number:05}.py" in answer.text, f"file {number} of {REVIEWED} did not come")


def _expect_files(paths: Sequence[Path], *, agents: bool) -> None:
    for path in paths:
        text = path.read_text()
        _expect(text.endswith(MINE) and (CHANGED in text) is agents, f"{path} is not as it should be")


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) * 1000


def _expect(met: bool, otherwise: str) -> None:
    if not met:
        raise TurnFailed(otherwise)

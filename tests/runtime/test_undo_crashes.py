"""kill -9 at every point of an undo of fifty files: each file is as before or as after, the log says which,
and the next start finishes or rolls back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.runtime.undoing import POINTS
from tests.server import PATIENCE, ROOT, Server, model_config, running, until

Files = dict[str, tuple[int, bytes]]

OPPOSITE = {"revert": "unrevert", "unrevert": "revert", "undo": "redo", "redo": "redo"}
COMES_AFTER = {"revert": (), "unrevert": ("revert",), "undo": (), "redo": ("undo",)}
NUMBERED = {
    "before a file": (20,),
    "after a file": (1, 20),
    "with folders made": (20,),
    "within the temporary file": (1, 20),
    "before the rename": (20,),
}
CASES = [(point, number) for point in POINTS for number in NUMBERED.get(point, (1,))]


@dataclass
class Stage:
    """A project with a turn of fifty files, and the data of the app; `saved` are copies of both."""

    folder: Path
    ends: dict[str, tuple[Files, Files]] = field(default_factory=dict)
    """By action the files before and after it, where nothing comes between."""
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.live, self.saved = self.folder / "live", self.folder / "saved"
        (self.live / "project").mkdir(parents=True)
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.live),
            "XDG_DATA_HOME": str(self.live / "data"),
            "PROJECT": str(self.live / "project"),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.runtime.undoing"],
            cwd=ROOT,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "stderr.log").open("w"),
            text=True,
        )

    def order(self, action: str, point: str = "", number: int = 1) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"action": action, "point": point, "number": number}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def does(self, action: str) -> Any:
        answer = self.order(action)
        assert "result" in answer, (self.folder / "stderr.log").read_text()
        return answer["result"]

    def files(self) -> Files:
        """Every file and folder with its mode and content."""
        root = self.live / "project"
        return {
            str(path.relative_to(root)): (
                stat.S_IMODE(path.lstat().st_mode),
                path.read_bytes() if path.is_file() else b"",
            )
            for path in sorted(root.rglob("*"))
        }

    def save(self, name: str) -> None:
        shutil.copytree(self.live, self.saved / name)

    def restore(self, name: str) -> None:
        shutil.rmtree(self.live)
        shutil.copytree(self.saved / name, self.live)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """With a copy of the state that each action begins in."""
    made = Stage(tmp_path_factory.mktemp("undo"))
    made.does("turn")
    made.save("turn")
    for action, first in COMES_AFTER.items():
        made.restore("turn")
        for before in first:
            made.does(before)
        made.save(action)
        old = made.files()
        made.does(action)
        made.ends[action] = old, made.files()
    yield made
    assert made.process.stdin
    made.process.stdin.close()
    made.process.wait(30)


@pytest.mark.long
@pytest.mark.parametrize(("point", "number"), CASES)
@pytest.mark.parametrize("action", OPPOSITE)
def test_killed(stage: Stage, action: str, point: str, number: int) -> None:
    old, new = stage.ends[action]
    assert old != new
    stage.restore(action)
    earlier = len(COMES_AFTER[action])
    assert stage.order(action, point, number) == {"signal": -9}
    cut = {path: state for path, state in stage.files().items() if not _is_temporary(path)}
    for path in old.keys() | new.keys():
        assert cut.get(path) in (old.get(path), new.get(path)), path
    log = stage.does("log")[earlier:]
    assert _told(log, old, new) or point == "before begin"

    log = stage.does("start")[earlier:]
    after = stage.files()
    done = [entry[1] for entry in log] == ["done"]
    assert after == (new if done else old), "finished, or nothing has happened"
    if not done:
        assert [entry[1:] for entry in log] in ([], [["withdrawn"]])
        assert stage.does(action) == "done"
        assert stage.files() == new
    assert stage.does(OPPOSITE[action]) == "done"
    assert stage.files() == old


def test_every_point_is_passed(stage: Stage) -> None:
    """A point that an undo does not come by would prove nothing."""
    for point in POINTS:
        stage.restore("revert")
        assert stage.order("revert", point) == {"signal": -9}, point


def test_a_second_start_has_nothing_to_do(stage: Stage) -> None:
    stage.restore("revert")
    assert stage.order("revert", "after a file", 20) == {"signal": -9}
    log = stage.does("start")
    after = stage.files()
    assert stage.does("start") == log
    assert stage.files() == after


async def test_a_server_finishes_it_when_it_starts(home: Path, project: Path) -> None:
    """Killed with the second file on its way: the first is as it was already, and nothing has gone."""
    edit = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'changed'"}
    tools = [ToolUse("write", {"filePath": "a.txt", "content": "a\n"}), ToolUse("edit", edit)]
    before = (project / "hello.py").read_text()
    async with OpenAIServer([Turn(tools=[tools[0]]), Turn(tools=[tools[1]]), Turn(text="Done.")]) as model:
        server = Server(home, project, model_config(model.base_url), {"CRASH_AT": "within an undo"})
        server.module = "tests.runtime.crashing"
        await asyncio.to_thread(server.start)
        assert server.process is not None
        async with server.client() as client:
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Write.")
            after = (project / "hello.py").read_text()
            prompt = (await client.messages(session["id"]))[0]["info"]["id"]
            with contextlib.suppress(Exception):  # the answer never comes
                await client.revert(session["id"], prompt)
        assert await asyncio.to_thread(server.process.wait, PATIENCE) == -9, server.log()
        assert (project / "a.txt").read_text() == "a\n"
        assert (project / "hello.py").read_text() == before
        server = Server(home, project, model_config(model.base_url))
        async with running(server) as client, client.events() as events:
            while (await client.session(session["id"])).get("revert") is None:
                await until(events, "session.updated")
            assert not (project / "a.txt").exists()
            assert (project / "hello.py").read_text() == before
            await client.unrevert(session["id"])
            assert (project / "a.txt").read_text() == "a\n"
            assert (project / "hello.py").read_text() == after


def _is_temporary(path: str) -> bool:
    return path.rpartition("/")[2].startswith(".undo-")


def _told(log: list[list[str]], old: Files, new: Files) -> bool:
    """The log names every file that may have been written, before the first is."""
    changed = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
    files = {path for path in changed if (old.get(path) or new[path])[1]}
    return len(log) == 1 and set(log[0][2:]) == files

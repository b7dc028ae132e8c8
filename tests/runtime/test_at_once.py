"""Calls that change a file at the same time: the ledger has what each did, in the order it was done in."""

from __future__ import annotations

import asyncio
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from agents.agent.calls.calls import Calls
from agents.agent.calls.context import CallContext
from agents.config.schema import Config
from agents.llm.types import ToolCall
from agents.toolkit.base import FileWrite
from agents.tools.registry import Toolset
from sessions.changes.tracking import Tracker, as_change
from sessions.changes.undo.apply import apply
from sessions.changes.undo.plan import fold, plan_undo
from sessions.core.db import in_db
from sessions.core.models import FileChange
from sessions.core.store import ledger
from tests.runtime.recording import recording

pytestmark = pytest.mark.django_db(transaction=True)


class Pair:
    """Two calls of one answer, in a project."""

    def __init__(self, block: Calls, first: CallContext, second: CallContext) -> None:
        self.tracker = block.run.tracker
        self.project = self.tracker.worktree
        self.file = self.project / "a.txt"
        self.first, self.second = first, second

    @classmethod
    async def begin(cls, project: Path, **config: Any) -> Pair:
        recorder, turn = await recording(project)
        turn = replace(turn, config=Config.model_validate(config))
        block = Calls(recorder.run, recorder, turn, Toolset({}))
        taken = [await recorder.take(ToolCall(f"call_{number}", "any", {}, "{}")) for number in (1, 2)]
        first, second = (block.context_of(each[0]) for each in taken if each)
        return cls(block, first, second)

    async def rows(self) -> list[FileChange]:
        return await in_db(lambda: list(FileChange.objects.order_by("id")))

    async def steps(self) -> list[tuple[str, str, str | None]]:
        """Who made what of the file, once all is done; undoing all of it leaves it as it was."""
        rows = [row for row in await self.rows() if row.path == "a.txt"]
        assert len(fold([as_change(row) for row in rows])) == 1, "each goes on from the one before"
        objects = self.tracker.objects
        return [(row.call_id, row.origin, row.after and objects.get(row.after).decode()) for row in rows]

    async def undo(self) -> None:
        changes = [as_change(row) for row in await self.rows()]
        plan = plan_undo(changes, self.tracker.objects, self.project)
        apply(plan, self.project, self.tracker.objects)


class Lasting:
    """A command that writes a file and goes on until it is told to end."""

    def __init__(self, file: Path, text: str) -> None:
        self._file, self._text = file, text
        self._written, self._end = asyncio.Event(), asyncio.Event()

    async def begin(self, call: CallContext) -> None:
        self._call = asyncio.create_task(call.around_shell(self._run))
        await self._written.wait()

    async def end(self) -> None:
        self._end.set()
        await self._call

    async def _run(self) -> None:
        self._file.write_text(self._text)
        self._written.set()
        await self._end.wait()


class Held:
    """The end of a command of a tracker, held back when all about it is looked at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
        self.come, self.go_on = threading.Event(), threading.Event()
        end = Tracker.end

        def slowly(tracker: Tracker, command: int) -> Any:
            found = end(tracker, command)
            if command == number:
                self.come.set()
                assert self.go_on.wait(10)
            return found

        monkeypatch.setattr(Tracker, "end", slowly)


async def test_what_a_command_did_before_another_began_comes_before_what_that_one_did(tmp_path: Path) -> None:
    pair = await Pair.begin(tmp_path / "project")
    pair.file.write_text("mine")
    lasting = Lasting(pair.file, "first")
    await lasting.begin(pair.first)

    async def quick() -> None:
        pair.file.write_text("second")

    await pair.second.around_shell(quick)
    await lasting.end()
    assert await pair.steps() == [("call_1", "command", "first"), ("call_2", "overlap", "second")]
    await pair.undo()
    assert pair.file.read_text() == "mine"


async def test_what_a_command_did_before_an_edit_comes_before_the_edit(tmp_path: Path) -> None:
    pair = await Pair.begin(tmp_path / "project")
    pair.file.write_text("mine")
    lasting = Lasting(pair.file, "first")
    await lasting.begin(pair.first)
    await pair.second.write_files([FileWrite(pair.file, b"second", b"first")])
    await lasting.end()
    assert await pair.steps() == [("call_1", "command", "first"), ("call_2", "edit", "second")]
    await pair.undo()
    assert pair.file.read_text() == "mine"


async def test_what_a_command_did_is_recorded_before_an_edit_that_comes_right_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = await Pair.begin(tmp_path / "project")
    pair.file.write_text("mine")
    held = Held(monkeypatch, 1)

    async def quick() -> None:
        pair.file.write_text("first")

    command = asyncio.create_task(pair.first.around_shell(quick))
    assert await asyncio.to_thread(held.come.wait, 10)
    await pair.second.write_files([FileWrite(pair.file, b"second", b"first")])
    held.go_on.set()
    await command
    assert await pair.steps() == [("call_1", "command", "first"), ("call_2", "edit", "second")]
    await pair.undo()
    assert pair.file.read_text() == "mine"


async def test_what_a_formatter_did_is_recorded_once_though_that_of_another_file_ends_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipes = [tmp_path / name for name in ("loud-says", "loud-hears", "plain-says", "plain-hears")]
    for pipe in pipes:
        os.mkfifo(pipe)
    loud_says, loud_hears, plain_says, plain_hears = pipes
    said, heard = f"echo > {loud_says}", f"read line < {loud_hears}"
    upper = f'{said}; {heard}; tr a-z A-Z < "$0" > "$0.new"; mv "$0.new" "$0"; {said}; {heard}'
    formatter = {
        "upper": {"command": ["sh", "-c", upper, "$FILE"], "extensions": [".txt"]},
        "none": {
            "command": ["sh", "-c", f"echo > {plain_says}; read line < {plain_hears}", "$FILE"],
            "extensions": [".md"],
        },
    }
    pair = await Pair.begin(tmp_path / "project", formatter=formatter)
    held = Held(monkeypatch, 2)
    loud = asyncio.create_task(pair.first.write_files([FileWrite(pair.file, b"loud\n", None)]))
    await asyncio.to_thread(loud_says.read_text)
    other = FileWrite(pair.project / "b.md", b"plain\n", None)
    plain = asyncio.create_task(pair.second.write_files([other]))
    await asyncio.to_thread(plain_says.read_text)
    await asyncio.to_thread(loud_hears.write_text, "go on\n")
    await asyncio.to_thread(loud_says.read_text)
    await asyncio.to_thread(plain_hears.write_text, "go on\n")
    assert await asyncio.to_thread(held.come.wait, 10)
    await asyncio.to_thread(loud_hears.write_text, "go on\n")
    assert [write.content for write in await loud] == [b"LOUD\n"]
    held.go_on.set()
    await plain
    made = [(origin, text) for _, origin, text in await pair.steps()]
    assert made == [("edit", "loud\n"), ("formatter", "LOUD\n")]
    await pair.undo()
    assert not pair.file.exists()
    assert not other.path.exists()


async def test_what_cannot_be_recorded_at_once_is_recorded_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = await Pair.begin(tmp_path / "project")
    pair.file.write_text("mine")
    lasting = Lasting(pair.file, "first")
    await lasting.begin(pair.first)
    with monkeypatch.context() as broken:
        broken.setattr(ledger, "add", full)
        with pytest.raises(OperationalError, match="full"):
            await pair.second.write_files([FileWrite(pair.file, b"second", b"first")])
    assert pair.file.read_text() == "first"
    await lasting.end()
    assert await pair.steps() == [("call_1", "command", "first")]


def full(*_: Any) -> None:
    raise OperationalError("database or disk is full")

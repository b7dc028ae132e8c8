"""Writing files for a tool: contents kept first, then the ledger, then the files, then formatters.

A crash in between leaves nothing unrecorded (design law 7). Several files are written all or none, and each
by one call at a time: what others wrote since the tool read it stays, unless it is the same lines. In review
mode they are staged instead, as they came: formatters do not run, so that what is kept is what was reviewed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from agents.formatters.run import chosen, run_formatter
from agents.runtime.calls.staged import Stage
from agents.runtime.run import Run
from agents.tools.base import FileWrite, ToolError
from agents.tools.shared.beside import rebased
from agents.turn import Turn
from sessions.db import in_db
from sessions.files import replace_file
from sessions.models import FileChange
from sessions.store import ledger
from sessions.store.leases import confirmed
from sessions.undo.files import NEW_FILE
from sessions.wire.parts import ToolPart

_ROUNDS = 5
"""How often a file that goes on changing is tried."""

_locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()


class _Moved(Exception):
    """A file was changed between the look at it and the write."""


class FileWriter:
    """The writes of one call."""

    def __init__(self, run: Run, turn: Turn, part: ToolPart, stage: Stage) -> None:
        self._run = run
        self._turn = turn
        self._part = part
        self._stage = stage

    async def write(self, writes: Sequence[FileWrite]) -> list[FileWrite]:
        """Undisturbed by a stop: either nothing has happened or everything has."""
        return await asyncio.shield(asyncio.create_task(self._write(writes)))

    async def _write(self, writes: Sequence[FileWrite]) -> list[FileWrite]:
        if await self._stage.takes(writes):
            return await self._stage.put(writes)
        async with AsyncExitStack() as stack:
            for path in sorted({item.path for item in writes}):
                await stack.enter_async_context(_locks.setdefault(path, asyncio.Lock()))
            for _ in range(_ROUNDS):
                made = await asyncio.to_thread(lambda: [rebased(item, _read(item.path)) for item in writes])
                try:
                    await self._all_or_none(made)
                except _Moved:
                    continue
                return [await self._formatted(item) for item in made]
        raise ToolError(f"{writes[0].path} goes on changing. Nothing was written; read it again.")

    async def _all_or_none(self, writes: Sequence[FileWrite]) -> None:
        changes = await asyncio.to_thread(lambda: [self._entry(item) for item in writes])
        await confirmed()
        await in_db(ledger.add, self._run.session, changes)
        after = {change.path: change.after or None for change in changes}
        try:
            await asyncio.to_thread(self._run.tracker.writing, after, lambda: _apply(writes))
        except BaseException:
            await in_db(ledger.add, self._run.session, [self._inverse(change) for change in changes])
            raise

    async def _formatted(self, written: FileWrite) -> FileWrite:
        """What formatters make of the file, and of others with it, are changes of the same call."""
        wanted = await asyncio.to_thread(chosen, written.path, self._turn) if written.content else []
        if not wanted:
            return written
        tracker = self._run.tracker
        command = await asyncio.to_thread(tracker.begin)
        try:
            for formatter in wanted:
                await run_formatter(formatter, written.path, self._turn)
        finally:
            changes = await asyncio.to_thread(tracker.end, command)
        made = await asyncio.to_thread(written.path.read_bytes)
        for change in changes:
            change.message_id, change.part_id = self._part.message_id, self._part.id
            change.call_id, change.origin = self._part.call_id, "formatter"
        await in_db(ledger.add, self._run.session, changes)
        await self._complete(FileWrite(written.path, made, written.content))
        return replace(written, content=made)

    async def _complete(self, formatted: FileWrite) -> None:
        """Record the file itself where no snapshot saw it change: it is ignored, or lies outside."""
        entry = await asyncio.to_thread(self._entry, formatted)
        entry.origin = "formatter"
        known = await in_db(ledger.last_content, self._run.session.project_id, entry.path)
        if known != entry.after:
            await in_db(ledger.add, self._run.session, [entry])

    def _entry(self, item: FileWrite) -> FileChange:
        objects = self._run.tracker.objects
        mode = item.path.stat().st_mode if item.expected is not None else None
        made = None if item.content is None else mode or NEW_FILE
        return FileChange(
            message_id=self._part.message_id,
            part_id=self._part.id,
            call_id=self._part.call_id,
            origin="edit",
            path=os.path.relpath(item.path, self._turn.worktree),
            before=objects.put(item.expected) if item.expected is not None else "",
            after=objects.put(item.content) if item.content is not None else "",
            mode_before=mode,
            mode_after=made,
            new_folders=sum(not folder.exists() for folder in item.path.parents),
        )

    def _inverse(self, change: FileChange) -> FileChange:
        return FileChange(
            message_id=change.message_id,
            part_id=change.part_id,
            call_id=change.call_id,
            origin=change.origin,
            path=change.path,
            before=change.after,
            after=change.before,
            mode_before=change.mode_after,
            mode_after=change.mode_before,
        )


def _apply(writes: Sequence[FileWrite]) -> None:
    done: list[FileWrite] = []
    try:
        for item in writes:
            if _read(item.path) != item.expected:
                raise _Moved
            _put(item.path, item.content)
            done.append(item)
    except BaseException:
        for item in reversed(done):
            _put(item.path, item.expected)
        raise


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        replace_file(path, content)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None

"""Writing files for a tool: contents kept first, then the ledger, then the files, then formatters.

A crash in between leaves nothing unrecorded (design law 7). Several files are written all or none. In review
mode they are staged instead, as they came: formatters do not run, so that what is kept is what was reviewed.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from agents.formatters.run import chosen, run_formatter
from agents.runtime.calls.staged import Stage
from agents.runtime.run import Run
from agents.tools.base import FileWrite, ToolError
from agents.turn import Turn
from sessions.db import in_db
from sessions.files import replace_file
from sessions.models import FileChange
from sessions.store import ledger
from sessions.store.leases import confirmed
from sessions.wire.parts import ToolPart


class FileWriter:
    """The writes of one call."""

    def __init__(self, run: Run, turn: Turn, part: ToolPart, stage: Stage) -> None:
        self._run = run
        self._turn = turn
        self._part = part
        self._stage = stage

    async def write(self, writes: Sequence[FileWrite]) -> list[bytes | None]:
        """Undisturbed by a stop: either nothing has happened or everything has."""
        return await asyncio.shield(asyncio.create_task(self._write(writes)))

    async def _write(self, writes: Sequence[FileWrite]) -> list[bytes | None]:
        if await self._stage.takes(writes):
            await self._stage.put(writes)
            return [item.content for item in writes]
        await self._all_or_none(writes)
        return [await self._formatted(item) for item in writes]

    async def _all_or_none(self, writes: Sequence[FileWrite]) -> None:
        changes = await asyncio.to_thread(lambda: [self._change(item) for item in writes])
        await confirmed()
        await in_db(ledger.add, self._run.session, changes)
        after = {change.path: change.after or None for change in changes}
        try:
            await asyncio.to_thread(self._run.tracker.writing, after, lambda: _apply(writes))
        except BaseException:
            await in_db(ledger.add, self._run.session, [self._inverse(change) for change in changes])
            raise

    async def _formatted(self, written: FileWrite) -> bytes | None:
        """What formatters make of the file, and of others with it, are changes of the same call."""
        wanted = await asyncio.to_thread(chosen, written.path, self._turn) if written.content else []
        if not wanted:
            return written.content
        tracker = self._run.tracker
        await asyncio.to_thread(tracker.begin)
        try:
            for formatter in wanted:
                await run_formatter(formatter, written.path, self._turn)
        finally:
            changes = await asyncio.to_thread(tracker.end)
        made = await asyncio.to_thread(written.path.read_bytes)
        for change in changes:
            change.message_id, change.part_id = self._part.message_id, self._part.id
            change.call_id, change.origin = self._part.call_id, "formatter"
        await in_db(ledger.add, self._run.session, changes)
        await self._complete(FileWrite(written.path, made, written.content))
        return made

    async def _complete(self, formatted: FileWrite) -> None:
        """Record the file itself where no snapshot saw it change: it is ignored, or lies outside."""
        entry = await asyncio.to_thread(self._entry, formatted)
        entry.origin = "formatter"
        known = await in_db(ledger.last_content, self._run.session.project_id, entry.path)
        if known != entry.after:
            await in_db(ledger.add, self._run.session, [entry])

    def _change(self, item: FileWrite) -> FileChange:
        _unchanged(item)
        return self._entry(item)

    def _entry(self, item: FileWrite) -> FileChange:
        objects = self._run.tracker.objects
        mode = item.path.stat().st_mode if item.expected is not None else None
        made = None if item.content is None else mode or stat.S_IFREG | 0o644
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
            _unchanged(item)
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


def _unchanged(item: FileWrite) -> None:
    try:
        current = item.path.read_bytes()
    except FileNotFoundError:
        current = None
    if current != item.expected:
        raise ToolError(f"{item.path} was changed by somebody else in the meantime. Read it again.")

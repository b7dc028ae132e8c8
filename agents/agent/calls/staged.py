"""What a call sees and leaves in review mode: edits wait beside the working tree until a person keeps them.

A path that waits is read and edited where it waits, also when review mode was turned off meanwhile; review
mode decides whether other paths begin to wait.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from agents.agent.run import Run
from agents.toolkit.base import FileWrite, ToolError, ToolResult
from agents.toolkit.file_names import printable
from agents.toolkit.permission.defaults import is_guarded
from agents.toolkit.shared.beside import rebased
from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.files import NEW_FILE, UnsafePath, read_file
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import StagedFile
from sessions.core.plans import plan_path
from sessions.core.store import staging
from sessions.core.wire.parts import ToolPart

NAMED = 10
"""Staged files that a command's note names."""

STAGED = "Staged for review: the user has not kept this yet, so it is not in the working tree."
UNSEEN = (
    "[Review mode: this ran on the working tree, which does not have your staged edits of {names}. They wait "
    "until the user keeps them. If this needs them, say so and let the user keep them first.]"
)
AGAIN = "{} is being changed by others. Nothing was staged; read it again."
_ROUNDS = 5
OUTSIDE = "{} lies outside of the project and cannot be staged. The user can turn review mode off for it."


class Stage:
    """The staged files of a session as one call has them."""

    def __init__(self, run: Run, part: ToolPart) -> None:
        self._run = run
        self._part = part
        self._waived = False
        self._guarded = False
        self._staged = False
        self._unseen: list[str] = []

    def files(self) -> dict[Path, bool]:
        """What waits, the newest edit first: whether there is a file then, or it is to be removed. Blocks."""
        return {self._root / row.path: bool(row.content) for row in self._rows()}

    def read(self, path: Path) -> tuple[bool, bytes | None]:
        """Whether a path waits, and what it will hold. Blocks; raises OSError."""
        row = next((row for row in self._rows() if self._root / row.path == path), None)
        if row is None:
            return False, None
        return True, self._run.tracker.objects.get(row.content) if row.content else None

    async def waives(self, permission: str, patterns: Sequence[str], metadata: Mapping[str, Any]) -> bool:
        """Whether nobody need be asked: the edit with this diff is staged, and keeping it is the approval."""
        if permission != "edit" or "diff" not in metadata or set(patterns) <= {self._plan}:
            return False
        held = await in_db(staging.held, self._run.session)
        if not held.on and held.paths.isdisjoint(patterns):
            return False
        self._waived = True
        self._guarded = any(map(is_guarded, patterns))
        return True

    async def takes(self, writes: Sequence[FileWrite]) -> bool:
        """Whether writes of one call wait. The plan of plan mode does not: it is what the user is shown."""
        if self._waived:
            return True
        held = await in_db(staging.held, self._run.session)
        paths = {self._relative(item.path) for item in writes}
        return bool(paths - {self._plan}) and (held.on or not held.paths.isdisjoint(paths))

    async def put(self, writes: Sequence[FileWrite]) -> list[FileWrite]:
        """Stage writes, all or none, and give them as they were made. Raises ToolError where somebody else
        changed the same lines since the call read a file."""
        call = staging.CallRef(self._part.message_id, self._part.id, self._part.call_id)
        for _ in range(_ROUNDS):
            made = await asyncio.to_thread(
                lambda: [rebased(item, self._current(item.path)) for item in writes]
            )
            edits = await asyncio.to_thread(self._edits, made)
            try:
                await in_db(staging.stage, self._run.session, edits, call)
            except staging.StaleEdit:
                continue
            self._staged = True
            return made
        raise ToolError(AGAIN.format(printable(str(writes[0].path))))

    async def look(self) -> None:
        """A command is about to run: note what it will not see."""
        held = await in_db(staging.held, self._run.session)
        self._unseen = sorted(held.paths)

    def noted(self, result: ToolResult) -> ToolResult:
        """The result with what the model must know: what is staged is not in the working tree."""
        if self._unseen:
            named = ", ".join(printable(path) for path in self._unseen[:NAMED])
            more = f" and {len(self._unseen) - NAMED} more files" if len(self._unseen) > NAMED else ""
            return replace(result, output=f"{UNSEEN.format(names=named + more)}\n{result.output}")
        if self._staged:
            metadata = {**result.metadata, "staged": True}
            return replace(result, output=f"{result.output}\n{STAGED}", metadata=metadata)
        return result

    @property
    def _root(self) -> Path:
        return self._run.worktree.resolve()

    @property
    def _plan(self) -> str:
        return self._relative(plan_path(self._run.session))

    def _relative(self, path: Path) -> str:
        return os.path.relpath(path, self._root)

    def _rows(self) -> list[StagedFile]:
        rows = in_db_sync(staging.files, self._run.session)
        return sorted(rows, key=lambda row: row.time_updated, reverse=True)

    def _current(self, path: Path) -> bytes | None:
        waits, content = self.read(path)
        if waits:
            return content
        try:
            found = read_file(self._run.worktree, self._relative(path))
        except (UnsafePath, OSError):
            return None
        return found.content if found else None

    def _edits(self, writes: Sequence[FileWrite]) -> list[staging.Edit]:
        present = {row.path for row in self._rows() if row.content}
        present |= {self._relative(item.path) for item in writes if item.content is not None}
        return [self._edit(item, present) for item in writes]

    def _edit(self, item: FileWrite, present: set[str]) -> staging.Edit:
        path, name = self._relative(item.path), printable(str(item.path))
        if path.startswith("../"):
            raise ToolError(OUTSIDE.format(name))
        if item.content is not None:
            _refuse_clash(path, present, name)
        try:
            now = read_file(self._run.worktree, path)
            mode = now.mode if now else self._given(item)
        except UnsafePath as error:
            raise ToolError(f"{name} cannot be staged: {error}.") from error
        put = self._run.tracker.objects.put
        return staging.Edit(
            path=path,
            expected="" if item.expected is None else object_id(item.expected),
            content="" if item.content is None else put(item.content),
            base=put(now.content) if now else "",
            mode_base=now.mode if now else None,
            mode=None if item.content is None else mode,
            guarded=self._guarded or is_guarded(path),
        )

    def _given(self, item: FileWrite) -> int:
        """The mode of a new file."""
        if item.mode_of is None:
            return NEW_FILE
        path = self._relative(item.mode_of)
        waiting = {row.path: row.mode for row in self._rows()}
        found = read_file(self._run.worktree, path)
        return waiting.get(path) or (found.mode if found else NEW_FILE)


def _refuse_clash(path: str, present: set[str], name: str) -> None:
    """A staged file is no folder, and a folder of staged files no file."""
    if any(str(parent) in present for parent in PurePosixPath(path).parents):
        raise ToolError(f"{name} cannot be made: a part of its path is a file, not a directory.")
    if any(other.startswith(f"{path}/") for other in present):
        raise ToolError(f"{name} is a directory, not a file.")

"""What a call sees and leaves in review mode: edits wait beside the working tree until a person keeps them.

A path that waits is read and edited where it waits, also when review mode was turned off meanwhile; review
mode decides whether other paths begin to wait. So it is in folders beside the project that may be written.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.agent.run import Run
from agents.toolkit.base import FileWrite, ToolError, ToolResult
from agents.toolkit.file_names import printable
from agents.toolkit.permission.defaults import is_guarded
from agents.toolkit.shared.beside import rebased
from agents.toolkit.turn import Turn
from sessions.changes.review.staged import waiting
from sessions.changes.roots import Roots
from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.files import NEW_FILE, UnsafePath, read_file
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import StagedFile
from sessions.core.plans import plan_path
from sessions.core.store import staging
from sessions.core.store.added_folders import holding
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


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits, the newest edit first, and where."""

    rows: Sequence[StagedFile]
    roots: Roots

    def file(self, row: StagedFile) -> Path:
        return Path(self.roots.root(row).worktree.resolve(), row.path)

    def at(self, path: Path) -> StagedFile | None:
        """The row of a file."""
        return next((row for row in self.rows if self.file(row) == path), None)

    def names(self) -> list[str]:
        return sorted(map(self.roots.path, self.rows))


class Stage:
    """The staged files of a session as one call has them."""

    def __init__(self, run: Run, turn: Turn, part: ToolPart) -> None:
        self._run = run
        self._turn = turn
        self._part = part
        self._waived = False
        self._guarded = False
        self._staged = False
        self._unseen: list[str] = []

    def files(self) -> dict[Path, bool]:
        """What waits, the newest edit first: whether there is a file then, or it is to be removed. Blocks."""
        held = in_db_sync(self._waiting)
        return {held.file(row): bool(row.content) for row in held.rows}

    def read(self, path: Path) -> tuple[bool, bytes | None]:
        """Whether a path waits, and what it will hold. Blocks; raises OSError."""
        return self._content(in_db_sync(self._waiting), path)

    async def waives(self, permission: str, patterns: Sequence[str], metadata: Mapping[str, Any]) -> bool:
        """Whether nobody need be asked: the edit with this diff is staged, and keeping it is the approval."""
        if permission != "edit" or "diff" not in metadata or set(patterns) <= {self._plan}:
            return False
        on, held = await in_db(self._state)
        if not on and self._files(patterns).isdisjoint(held.names()):
            return False
        self._waived = True
        self._guarded = any(map(is_guarded, patterns))
        return True

    async def takes(self, writes: Sequence[FileWrite]) -> bool:
        """Whether writes of one call wait. The plan of plan mode does not: it is what the user is shown."""
        if self._waived:
            return True
        if {self._relative(item.path) for item in writes} <= {self._plan}:
            return False
        on, held = await in_db(self._state)
        return on or any(held.at(item.path) for item in writes)

    async def put(self, writes: Sequence[FileWrite], roots: Roots) -> list[FileWrite]:
        """Stage writes, all or none, and give them as they were made. A file that does not wait yet has to
        lie in `roots`. Raises ToolError where somebody else changed the same lines since the call read it."""
        call = staging.CallRef(self._part.message_id, self._part.id, self._part.call_id)
        for _ in range(_ROUNDS):
            found = await in_db(self._waiting)
            held = Waiting(found.rows, Roots(roots.home, [*roots.every, *found.roots.every]))
            made = await asyncio.to_thread(self._rebased, held, writes)
            edits = await asyncio.to_thread(self._edits, held, made)
            try:
                await in_db(staging.stage, self._run.session, edits, call)
            except staging.StaleEdit:
                continue
            self._staged = True
            return made
        raise ToolError(AGAIN.format(printable(str(writes[0].path))))

    async def look(self) -> None:
        """A command is about to run: note what it will not see."""
        self._unseen = (await in_db(self._waiting)).names()

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

    def _state(self) -> tuple[bool, Waiting]:
        """Whether new edits wait, and what does. Runs on the ORM's thread."""
        return staging.is_on(self._run.session), self._waiting()

    def _waiting(self) -> Waiting:
        """Runs on the ORM's thread."""
        rows, roots = waiting(self._run.session)
        return Waiting(sorted(rows, key=lambda row: row.time_updated, reverse=True), roots)

    def _files(self, patterns: Sequence[str]) -> set[str]:
        """Those that a request is about, as seen from the session; its rules go by the path in another root,
        too."""
        beside = ((path, holding(self._turn.folders, Path(path))) for path in patterns if os.path.isabs(path))
        return set(patterns) - {os.path.relpath(path, folder.path) for path, folder in beside if folder}

    def _content(self, held: Waiting, path: Path) -> tuple[bool, bytes | None]:
        row = held.at(path)
        if row is None:
            return False, None
        return True, held.roots.root(row).objects.get(row.content) if row.content else None

    def _rebased(self, held: Waiting, writes: Sequence[FileWrite]) -> list[FileWrite]:
        return [rebased(item, self._current(held, item.path)) for item in writes]

    def _current(self, held: Waiting, path: Path) -> bytes | None:
        waits, content = self._content(held, path)
        if waits:
            return content
        try:
            found = read_file(*self._place(held.roots, path))
        except (UnsafePath, OSError):
            return None
        return found.content if found else None

    def _place(self, roots: Roots, path: Path) -> tuple[Path, str]:
        """The worktree that a file is noted with, and its path from there."""
        worktree = roots.holding(path).worktree.resolve()
        return worktree, os.path.relpath(path, worktree)

    def _edits(self, held: Waiting, writes: Sequence[FileWrite]) -> list[staging.Edit]:
        present = {held.file(row) for row in held.rows if row.content}
        present |= {item.path for item in writes if item.content is not None}
        return [self._edit(held, item, present) for item in writes]

    def _edit(self, held: Waiting, item: FileWrite, present: set[Path]) -> staging.Edit:
        root, name = held.roots.holding(item.path), printable(str(item.path))
        worktree, path = self._place(held.roots, item.path)
        if path.startswith("../"):
            raise ToolError(OUTSIDE.format(name))
        if item.content is not None:
            _refuse_clash(item.path, present, name)
        try:
            now = read_file(worktree, path)
            mode = now.mode if now else self._given(held, item)
        except UnsafePath as error:
            raise ToolError(f"{name} cannot be staged: {error}.") from error
        put = root.objects.put
        return staging.Edit(
            project_id=root.project_id,
            path=path,
            expected="" if item.expected is None else object_id(item.expected),
            content="" if item.content is None else put(item.content),
            base=put(now.content) if now else "",
            mode_base=now.mode if now else None,
            mode=None if item.content is None else mode,
            guarded=self._guarded or is_guarded(path),
        )

    def _given(self, held: Waiting, item: FileWrite) -> int:
        """The mode of a new file."""
        if item.mode_of is None:
            return NEW_FILE
        row, found = held.at(item.mode_of), read_file(*self._place(held.roots, item.mode_of))
        return (row and row.mode) or (found.mode if found else NEW_FILE)


def _refuse_clash(path: Path, present: set[Path], name: str) -> None:
    """A staged file is no folder, and a folder of staged files no file."""
    if any(parent in present for parent in path.parents):
        raise ToolError(f"{name} cannot be made: a part of its path is a file, not a directory.")
    if any(path in other.parents for other in present):
        raise ToolError(f"{name} is a directory, not a file.")

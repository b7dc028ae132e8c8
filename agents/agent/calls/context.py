"""What the runtime gives to a tool call: permission, progress, the ledger, the todo list (tools.base)."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from django.conf import settings

from agents.agent.calls import approvals
from agents.agent.calls.clock import Clock
from agents.agent.calls.questions import ask as ask_user
from agents.agent.calls.reviewing import Opinion, opinion
from agents.agent.calls.staged import Stage
from agents.agent.calls.subagents import delegate
from agents.agent.context.sources.nested import visit
from agents.agent.run import Run
from agents.config.configuration import load
from agents.toolkit.base import (
    Approval,
    Errand,
    FileWrite,
    Outcome,
    Question,
    Report,
    Todo,
    ToolError,
    ToolResult,
)
from agents.toolkit.file_names import printable
from agents.toolkit.formatters import Formatter, chosen, run_formatter
from agents.toolkit.permission.rules import Ruleset, narrowed
from agents.toolkit.shared.beside import rebased
from agents.toolkit.turn import Turn
from sessions.changes.roots import NoRoot, Roots, root_in
from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Record, Tracker
from sessions.changes.undo.files import AS_NEW, NEW_FILE
from sessions.core import fence
from sessions.core.db import in_db, in_db_sync
from sessions.core.files import replace_file
from sessions.core.ids import now
from sessions.core.models import FileChange
from sessions.core.store import inbox, ledger, messages, projects, todos, waits
from sessions.core.store.leases import confirmed
from sessions.core.text import error_text
from sessions.core.wire.parts import Running, ToolPart
from sessions.core.wire.session import TodoInfo

UPDATE_SECONDS = 0.1

Origin = FileChange.Origin

Nested = Callable[[ToolPart, Clock, str, Mapping[str, Any]], Awaitable[Outcome]]
"""Makes a call within a call; takes the outer call's part and clock."""


class CallContext:
    """One call of one turn; implements `agents.toolkit.base.ToolContext`."""

    def __init__(self, run: Run, turn: Turn, part: ToolPart, clock: Clock, nested: Nested) -> None:
        self.turn = turn
        self._nested = nested
        self._run = run
        self._part = part
        self._clock = clock
        self._stage = Stage(run, turn, part)
        self._reviewed = ""
        self._updated_at = 0.0
        self._late_update: asyncio.Task[None] | None = None
        self.session_id = run.session.id
        self.message_id = part.message_id
        self.call_id = part.call_id
        self.agent = turn.agent.name
        self.directory = run.directory
        self.worktree = run.worktree
        self.output_directory = Path(settings.TOOL_OUTPUT_DIR)
        self.model_takes_files = turn.model.attachment
        self.abort = run.abort

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        outdated: Callable[[], bool] | None = None,
        rules: Ruleset | None = None,
    ) -> Approval:
        rules = self.turn.rules if rules is None else rules
        question = approvals.Question(
            session=self._run.session,
            message_id=self.message_id,
            call_id=self.call_id,
            agent=self.agent,
            rules=rules,
            permission=permission,
            patterns=patterns,
            always=narrowed(permission, patterns, always, rules),
            metadata=metadata or {},
            outdated=outdated,
            tool=self._part.tool,
            unchosen=self.turn.terms.unchosen,
            review=self._review(permission, patterns, metadata or {}),
            waived=await self._stage.waives(permission, patterns, metadata or {}),
        )
        with self._clock.stopped():
            approval = await approvals.ask(question)
        self._reviewed = approval.reviewed or self._reviewed
        return approval

    def _review(
        self, permission: str, patterns: Sequence[str], metadata: Mapping[str, Any]
    ) -> Callable[[], Awaitable[Opinion]] | None:
        reviewer = self.turn.config.reviewer
        if reviewer is None:
            return None
        asked = {"permission": permission, "patterns": list(patterns), **metadata}
        return partial(opinion, self._run, reviewer, asked)

    async def update(self, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        state = self._part.state
        if not isinstance(state, Running):
            return
        state.title = title or state.title
        state.metadata = {**(state.metadata or {}), **(metadata or {})}
        wait = self._updated_at + UPDATE_SECONDS - time.monotonic()
        if wait <= 0:
            await self._show()
        elif self._late_update is None or self._late_update.done():
            self._late_update = self._run.spawn(self._show_later(wait))

    async def _show_later(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._late_update = None  # what is new while this is written is for another
        if isinstance(self._part.state, Running):
            await self._show()

    async def _show(self) -> None:
        self._updated_at = time.monotonic()
        await in_db(messages.put_part, self._part.model_copy(deep=True))

    def keep(self, content: bytes) -> str:
        return self._run.tracker.objects.put(content)

    def read_file(self, path: Path) -> bytes | None:
        staged, content = self._stage.read(path)
        if staged:
            return content
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    async def write_files(self, writes: Sequence[FileWrite]) -> list[FileWrite]:
        made = await FileWriter(self._run, self.turn, self._part, self._stage).write(writes)
        await visit(self.turn, [item.path for item in writes])
        return made

    async def visited(self, path: Path) -> None:
        await visit(self.turn, [path])

    def staged_files(self) -> Mapping[Path, bool]:
        return self._stage.files()

    def noted(self, result: ToolResult) -> ToolResult:
        """The result with what there is to say about review mode, and about who allowed it."""
        noted = self._stage.noted(result)
        if not self._reviewed:
            return noted
        return replace(noted, metadata={**noted.metadata, "reviewed": self._reviewed})

    async def around_shell(self, run: Callable[[], Awaitable[None]]) -> None:
        """The snapshot after is taken also when the command was stopped: what it did is in the ledger."""
        await self._stage.look()
        roots = await writable(self._run, self.turn)
        for root in roots.every:
            chosen = await in_db(projects.keep_ignored, root.project_id)
            root.keep_ignored(self.turn.config.keep_ignored if chosen is None else chosen)
        begun = asyncio.create_task(asyncio.to_thread(self._begin_shell, roots.every))
        try:
            await asyncio.shield(begun)
            await run()
        finally:
            await asyncio.shield(self._end_shell(begun))

    def _begin_shell(self, roots: Sequence[Tracker]) -> ExitStack:
        """In all of the roots or in none; to be closed when the command has ended."""
        with ExitStack() as begun:
            for root in roots:
                begun.callback(root.end, root.begin(recording(self._run, self._part, root)))
            return begun.pop_all()

    async def _end_shell(self, begun: asyncio.Task[ExitStack]) -> None:
        await asyncio.to_thread((await begun).close)

    async def question(self, questions: Sequence[Question]) -> list[list[str]]:
        with self._clock.stopped():
            return await ask_user(self.turn, self._part, questions)

    async def steer(self, text: str, *, agent: str = "") -> None:
        """Synthetic: the model reads it, the page says in a line which tool goes on."""
        part = {
            "type": "text",
            "text": text,
            "synthetic": True,
            "metadata": {inbox.STEERED_BY: self._part.tool},
        }
        await in_db(inbox.admit, self._run.session, [part], agent=agent, delivery="steer")

    async def delegate(self, errand: Errand) -> Report:
        begun = now()
        report = await delegate(self._run, self, errand)
        self._clock.forget(waits.within(await in_db(waits.of, report.task_id), begun, now()))
        return report

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        return await self._nested(self._part, self._clock, name, arguments)

    async def read_todos(self) -> list[Todo]:
        found = await in_db(todos.listing, self.session_id)
        return [Todo(todo.content, todo.status, todo.priority) for todo in found]

    async def write_todos(self, items: Sequence[Todo]) -> None:
        infos = [TodoInfo(content=item.content, status=item.status, priority=item.priority) for item in items]
        await in_db(todos.replace, self._run.session, infos)


# Writing files for a tool: contents kept first, then the ledger, then the files, then formatters.
#
# A crash in between leaves nothing unrecorded. Several files are written all or none, and each
# by one call at a time: what others wrote since the tool read it stays, unless it is the same lines. In
# review
# mode they are staged instead, as they came: formatters do not run, so that what is kept is what was
# reviewed.

_ROUNDS = 5
"""How often a file that goes on changing is tried."""

_locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()


class _Moved(Exception):
    """A file was changed between the look at it and the write."""


async def writable(run: Run, turn: Turn) -> Roots:
    """Those that a turn may write in: the folders beside its project that may be written are projects by
    themselves."""
    folders = [folder.path for folder in turn.folders if folder.write]
    return Roots(run.tracker, [await _root(folder) for folder in folders])


async def _root(folder: Path) -> Tracker:
    """Raises ToolError where it is no project of its own any more."""
    try:
        return await root_in(folder)
    except NoRoot as problem:
        raise ToolError(str(problem)) from problem


def recording(run: Run, part: ToolPart, root: Tracker, *, formatter: bool = False) -> Record:
    """Puts into the ledger what a command or a formatter of a call changed in a root, whoever has the session
    by now."""

    def record(changes: list[FileChange]) -> None:
        for change in changes:
            change.message_id, change.part_id, change.call_id = part.message_id, part.id, part.call_id
            change.project_id = root.project_id
            change.origin = Origin.FORMATTER if formatter else change.origin or Origin.COMMAND
        with fence.unfenced():
            in_db_sync(ledger.add, run.session, changes)

    return record


def write_in(writes: Sequence[tuple[Tracker, FileChange]], write: Callable[[], None]) -> None:
    """Let files of several roots be written; no look at one of them comes in between."""
    if not writes:
        return write()
    first = min((root for root, _ in writes), key=lambda root: root.project_id)
    own = {change.path: change.after or None for root, change in writes if root is first}
    rest = [entry for entry in writes if entry[0] is not first]
    return first.writing(own, lambda: write_in(rest, write))


class FileWriter:
    """The writes of one call."""

    def __init__(self, run: Run, turn: Turn, part: ToolPart, stage: Stage) -> None:
        self._run = run
        self._turn = turn
        self._part = part
        self._stage = stage
        self._roots = Roots(run.tracker)

    async def write(self, writes: Sequence[FileWrite]) -> list[FileWrite]:
        """Undisturbed by a stop: either nothing has happened or everything has."""
        return await asyncio.shield(asyncio.create_task(self._write(writes)))

    async def _write(self, writes: Sequence[FileWrite]) -> list[FileWrite]:
        self._roots = await writable(self._run, self._turn)
        if await self._stage.takes(writes):
            return await self._stage.put(writes, self._roots)
        async with AsyncExitStack() as stack:
            for path in sorted({item.path for item in writes}):
                await stack.enter_async_context(_locks.setdefault(path, asyncio.Lock()))
            for _ in range(_ROUNDS):
                made, changes = await asyncio.to_thread(self._rebased, writes)
                try:
                    await self._all_or_none(made, changes)
                except _Moved:
                    continue
                return [await self._formatted(item) for item in made]
        raise ToolError(f"{writes[0].path} goes on changing. Nothing was written; read it again.")

    def _rebased(self, writes: Sequence[FileWrite]) -> tuple[list[FileWrite], list[FileChange]]:
        """Onto the files as they are now, with the entries of the ledger."""
        made = [rebased(item, _read(item.path)) for item in writes]
        return made, [self._entry(item) for item in made]

    async def _all_or_none(self, writes: Sequence[FileWrite], changes: Sequence[FileChange]) -> None:
        await confirmed()
        both = list(zip(writes, changes, strict=True))
        within = [(self._roots.holding(item.path), change) for item, change in both]
        await asyncio.to_thread(write_in, within, lambda: self._record_and_apply(both))

    def _record_and_apply(self, both: Sequence[tuple[FileWrite, FileChange]]) -> None:
        changes = [change for _, change in both]
        in_db_sync(ledger.add, self._run.session, changes)
        stuck: list[FileChange] = []
        try:
            fence.require()
            apply_all(both, stuck)
        except BaseException as error:
            undone = [self._inverse(change) for change in changes if change not in stuck]
            with fence.unfenced():
                in_db_sync(ledger.add, self._run.session, undone)
            if not stuck:
                raise
            names = ", ".join(printable(change.path) for change in stuck)
            why = f"Not all files could be written ({error_text(error)}), and some could not be put back"
            raise ToolError(f"{why}: {names}. Read them again.") from error

    async def _formatted(self, written: FileWrite) -> FileWrite:
        """What formatters make of the file, and of others with it, are changes of the same call. In a folder
        beside the project they are those of its own configuration."""
        root = self._roots.holding(written.path)
        wanted = await asyncio.to_thread(self._formatters, root, written.path) if written.content else []
        if not wanted:
            return written
        record = recording(self._run, self._part, root, formatter=True)
        command = await asyncio.to_thread(root.begin, record)
        try:
            for formatter in wanted:
                await run_formatter(formatter, written.path, root.worktree, self._turn)
        finally:
            await asyncio.to_thread(root.end, command)
        try:
            return replace(written, content=await asyncio.to_thread(self._completed, root, written))
        except FileNotFoundError as error:
            names = ", ".join(formatter.name for formatter in wanted)
            raise ToolError(f"It was written, and then a formatter ({names}) removed it.") from error

    def _completed(self, root: Tracker, written: FileWrite) -> bytes:
        """What formatters left in the file. It is recorded where no snapshot saw it change: it is ignored, or
        lies outside. Raises FileNotFoundError."""
        entry = self._entry(FileWrite(written.path, written.content, written.content))
        after: dict[str, str | None] = {}

        def complete() -> bytes:
            made = written.path.read_bytes()
            known = in_db_sync(ledger.last_content, entry.project_id, entry.path)
            after[entry.path] = object_id(made)
            if known != after[entry.path]:
                entry.before, entry.after = known or "", root.objects.put(made)
                entry.origin = Origin.FORMATTER
                with fence.unfenced():
                    in_db_sync(ledger.add, self._run.session, [entry])
            return made

        return root.writing(after, complete)

    def _formatters(self, root: Tracker, path: Path) -> list[Formatter]:
        own = root is self._run.tracker
        config = self._turn.config if own else load(root.worktree).config
        return chosen(path, config, self._turn.worktree if own else root.worktree)

    def _entry(self, item: FileWrite) -> FileChange:
        root = self._roots.holding(item.path)
        objects = root.objects
        mode = item.path.stat().st_mode if item.expected is not None else None
        given = item.mode_of.stat().st_mode if item.mode_of else NEW_FILE
        made = None if item.content is None else mode or given
        return FileChange(
            message_id=self._part.message_id,
            part_id=self._part.id,
            call_id=self._part.call_id,
            origin=Origin.EDIT,
            project_id=root.project_id,
            path=os.path.relpath(item.path, root.worktree),
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
            project_id=change.project_id,
            path=change.path,
            before=change.after,
            after=change.before,
            mode_before=change.mode_after,
            mode_after=change.mode_before,
        )


def apply_all(writes: Sequence[tuple[FileWrite, FileChange]], stuck: list[FileChange]) -> None:
    """Write all, the deletions last, or none: then it raises what went wrong. `stuck` gets what could not be
    taken back."""
    done: list[tuple[FileWrite, FileChange]] = []
    try:
        for item, change in sorted(writes, key=lambda write: write[0].content is None):
            if _read(item.path) != item.expected:
                raise _Moved
            _put(item.path, item.content, change.mode_after)
            done.append((item, change))
    except BaseException:
        for item, change in reversed(done):
            try:
                _put(item.path, item.expected, change.mode_before)
            except OSError:
                stuck.append(change)
        raise


def _put(path: Path, content: bytes | None, mode: int | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        replace_file(path, content, None if mode is None or mode & AS_NEW else mode)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None

"""What the runtime gives to a tool call: permission, progress, the ledger, the todo list (tools.base)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.permission.rules import narrowed
from agents.runtime.calls import approvals
from agents.runtime.calls.files import FileWriter
from agents.runtime.calls.questions import ask as ask_user
from agents.runtime.calls.staged import Stage
from agents.runtime.calls.subagents import delegate
from agents.runtime.run import Run
from agents.tools.base import Approval, Errand, FileWrite, Outcome, Question, Report, Todo, ToolResult
from agents.turn import Turn
from sessions.db import in_db
from sessions.store import inbox, ledger, messages, projects, todos
from sessions.wire.parts import Running, ToolPart
from sessions.wire.session import TodoInfo

UPDATE_SECONDS = 0.1

Nested = Callable[[ToolPart, str, Mapping[str, Any]], Awaitable[Outcome]]
"""Makes a call within a call; takes the outer call's part."""


class CallContext:
    """One call of one turn; implements `agents.tools.base.ToolContext`."""

    def __init__(self, run: Run, turn: Turn, part: ToolPart, nested: Nested) -> None:
        self.turn = turn
        self._nested = nested
        self._run = run
        self._part = part
        self._stage = Stage(run, part)
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
    ) -> Approval:
        return await approvals.ask(
            approvals.Question(
                session=self._run.session,
                message_id=self.message_id,
                call_id=self.call_id,
                agent=self.agent,
                rules=self.turn.rules,
                permission=permission,
                patterns=patterns,
                always=narrowed(permission, patterns, always, self.turn.rules),
                metadata=metadata or {},
                outdated=outdated,
                waived=await self._stage.waives(permission, patterns, metadata or {}),
            )
        )

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
        return await FileWriter(self._run, self.turn, self._part, self._stage).write(writes)

    def staged_files(self) -> Mapping[Path, bool]:
        return self._stage.files()

    def noted(self, result: ToolResult) -> ToolResult:
        """The result with what there is to say about review mode."""
        return self._stage.noted(result)

    async def around_shell(self, run: Callable[[], Awaitable[None]]) -> None:
        """The snapshot after is taken also when the command was stopped: what it did is in the ledger."""
        await self._stage.look()
        chosen = await in_db(projects.keep_ignored, self._run.session.project_id)
        self._run.tracker.keep_ignored(self.turn.config.keep_ignored if chosen is None else chosen)
        begun = asyncio.create_task(asyncio.to_thread(self._run.tracker.begin))
        try:
            await asyncio.shield(begun)
            await run()
        finally:
            await asyncio.shield(self._record_shell(begun))

    async def _record_shell(self, begun: asyncio.Task[int]) -> None:
        changes = await asyncio.to_thread(self._run.tracker.end, await begun)
        for change in changes:
            change.message_id, change.part_id, change.call_id = self.message_id, self._part.id, self.call_id
            change.origin = change.origin or "command"
        if changes:
            await in_db(ledger.add, self._run.session, changes)

    async def question(self, questions: Sequence[Question]) -> list[list[str]]:
        return await ask_user(self.turn, self._part, questions)

    async def steer(self, text: str, *, agent: str = "") -> None:
        """Synthetic: the model reads it, the page says in a line which tool goes on."""
        part = {"type": "text", "text": text, "synthetic": True, "metadata": {"steered_by": self._part.tool}}
        await in_db(inbox.admit, self._run.session, [part], agent=agent, delivery="steer")

    async def delegate(self, errand: Errand) -> Report:
        return await delegate(self._run, self, errand)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        return await self._nested(self._part, name, arguments)

    async def read_todos(self) -> list[Todo]:
        found = await in_db(todos.listing, self.session_id)
        return [Todo(todo.content, todo.status, todo.priority) for todo in found]

    async def write_todos(self, items: Sequence[Todo]) -> None:
        infos = [TodoInfo(content=item.content, status=item.status, priority=item.priority) for item in items]
        await in_db(todos.replace, self._run.session, infos)

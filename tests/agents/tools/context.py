"""A ToolContext that works for real on a folder, without a session around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agents.config.schema import Config
from agents.llm.types import Model
from agents.toolkit.base import Approval, Errand, FileWrite, Outcome, Question, Report, Todo
from agents.toolkit.definitions import Agent
from agents.toolkit.permission.errors import Outdated, PermissionDenied, PermissionRejected
from agents.toolkit.permission.rules import Rule
from agents.toolkit.shared.beside import rebased
from agents.toolkit.turn import Turn
from sessions.changes.snapshots.objects import object_id
from sessions.core.files import replace_file
from sessions.core.models import Session


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of `ask`."""

    permission: str
    patterns: tuple[str, ...]
    always: tuple[str, ...]
    metadata: Mapping[str, Any]


def turn_in(directory: Path, worktree: Path, **changed: Any) -> Turn:
    """A turn of the build agent with a model that does not exist; `changed` replaces fields."""
    fields: dict[str, Any] = {
        "session": Session(id="ses_test", directory=str(directory)),
        "directory": directory,
        "worktree": worktree,
        "config": Config(),
        "agent": Agent("build"),
        "model": Model("fake", "fake", "Fake", "openai", "fake"),
        "rules": (),
    }
    return Turn(**fields | changed)


@dataclass(slots=True)
class DirectContext:
    """Every ask is kept in `asked` and answered by `decisions` (by permission name), else by `decision`."""

    directory: Path
    worktree: Path
    output_directory: Path
    session_id: str = "ses_test"
    message_id: str = "msg_test"
    call_id: str = "call_test"
    agent: str = "build"
    model_takes_files: bool = True
    abort: asyncio.Event = field(default_factory=asyncio.Event)
    decision: Literal["allow", "deny", "reject"] = "allow"
    decisions: dict[str, Literal["allow", "deny", "reject"]] = field(default_factory=dict)
    rejection: str = ""
    approval: Approval = field(default_factory=Approval)
    """What `ask` gives when it allows."""
    meanwhile: list[Callable[[], Any]] = field(default_factory=list)
    """What happens while a request waits, one for each that can become outdated."""
    staged: dict[Path, bytes | None] = field(default_factory=dict)
    """Files that wait in review mode, by real path (None: to be removed), the newest edit first."""
    kept: dict[str, bytes] = field(default_factory=dict)
    """What `keep` was given, by its address."""
    asked: list[Asked] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)
    updated: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by each update; a test may clear it and wait for the next one."""
    read: list[Path] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    shells: int = 0
    todos: list[Todo] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    answers: list[list[str]] = field(default_factory=list)
    """What `question` gives."""
    steered: list[tuple[str, str]] = field(default_factory=list)
    """Text and agent of each `steer`."""
    errands: list[Errand] = field(default_factory=list)
    report: Report = field(default_factory=lambda: Report("ses_child", "Done."))
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """What `call` gives, by the name of the tool."""
    turn: Turn = field(init=False)

    def __post_init__(self) -> None:
        self.turn = turn_in(self.directory, self.worktree)

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        outdated: Callable[[], bool] | None = None,
        rules: Sequence[Rule] | None = None,
    ) -> Approval:
        self.asked.append(Asked(permission, tuple(patterns), tuple(always), dict(metadata or {})))
        decision = self.decisions.get(permission, self.decision)
        if decision == "deny":
            raise PermissionDenied(Rule(permission, patterns[0] if patterns else "*", "deny"))
        if decision == "reject":
            raise PermissionRejected(self.rejection)
        if self.meanwhile and outdated:
            self.meanwhile.pop(0)()
            if outdated():
                raise Outdated
        return self.approval

    async def update(self, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        self.updates.append({"title": title, "metadata": dict(metadata or {})})
        self.updated.set()

    def keep(self, content: bytes) -> str:
        address = object_id(content)
        self.kept[address] = content
        return address

    def staged_files(self) -> Mapping[Path, bool]:
        return {path: content is not None for path, content in self.staged.items()}

    def read_file(self, path: Path) -> bytes | None:
        if path in self.staged:
            return self.staged[path]
        return path.read_bytes() if path.exists() else None

    async def visited(self, path: Path) -> None:
        self.read.append(path)

    async def write_files(self, writes: Sequence[FileWrite]) -> list[FileWrite]:
        writes = [rebased(item, item.path.read_bytes() if item.path.exists() else None) for item in writes]
        for item in writes:
            self.written.append(item.path)
            if item.content is None:
                item.path.unlink()
            else:
                replace_file(item.path, item.content)
        return list(writes)

    async def around_shell(self, run: Callable[[], Awaitable[None]]) -> None:
        self.shells += 1
        await run()

    async def question(self, questions: Sequence[Question]) -> list[list[str]]:
        self.questions += questions
        return self.answers

    async def steer(self, text: str, *, agent: str = "") -> None:
        self.steered.append((text, agent))

    async def delegate(self, errand: Errand) -> Report:
        self.errands.append(errand)
        return self.report

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        self.calls.append((name, arguments))
        return self.outcomes[name]

    async def read_todos(self) -> list[Todo]:
        return list(self.todos)

    async def write_todos(self, todos: Sequence[Todo]) -> None:
        self.todos = list(todos)

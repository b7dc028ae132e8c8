"""A ToolContext that works for real on a folder, without a session around it."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agents.permission.errors import PermissionDenied, PermissionRejected
from agents.permission.rules import Rule
from agents.tools.base import Todo, ToolError


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of `ask`."""

    permission: str
    patterns: tuple[str, ...]
    always: tuple[str, ...]
    metadata: Mapping[str, Any]


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
    asked: list[Asked] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)
    updated: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by each update; a test may clear it and wait for the next one."""
    written: list[Path] = field(default_factory=list)
    shells: int = 0
    todos: list[Todo] = field(default_factory=list)

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.asked.append(Asked(permission, tuple(patterns), tuple(always), dict(metadata or {})))
        decision = self.decisions.get(permission, self.decision)
        if decision == "deny":
            raise PermissionDenied(Rule(permission, patterns[0] if patterns else "*", "deny"))
        if decision == "reject":
            raise PermissionRejected(self.rejection)

    async def update(self, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        self.updates.append({"title": title, "metadata": dict(metadata or {})})
        self.updated.set()

    async def write_file(self, path: Path, content: bytes, *, expected: bytes | None) -> None:
        current = path.read_bytes() if path.exists() else None
        if current != expected:
            raise ToolError(f"{path} changed since it was read; read it again.")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        partial.write_bytes(content)
        if current is not None:
            shutil.copymode(path, partial)
        os.replace(partial, path)
        self.written.append(path)

    async def around_shell(self, run: Callable[[], Awaitable[None]]) -> None:
        self.shells += 1
        await run()

    async def read_todos(self) -> list[Todo]:
        return list(self.todos)

    async def write_todos(self, todos: Sequence[Todo]) -> None:
        self.todos = list(todos)

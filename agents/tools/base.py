"""What a tool is: a name, a description, a pydantic model of its input and one coroutine.

Source: seed 004 §6.1. A new tool is one new file with one `TOOL = Tool(...)` and one line in registry.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel


class ToolError(Exception):
    """The tool failed in a way the model can act on; the text goes to the model as it stands."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes to the model beside the output; `url` is a `data:` URL."""

    mime: str
    url: str
    filename: str = ""


@dataclass(slots=True)
class ToolResult:
    """What a tool gives back: `title` for the card, `output` for the model, `metadata` for the page.

    Output is bounded by the caller (seed 002, Model Tool Output), not here. A tool that has already
    shaped and bounded its output (read, grep, glob) sets `bounded`.
    """

    title: str
    output: str
    metadata: dict[str, Any] = field(default_factory=dict)
    attachments: Sequence[Attachment] = ()
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class Todo:
    content: str
    status: str
    priority: str


class ToolContext(Protocol):
    """What the runtime gives to a call. Paths are absolute; `abort` is set when the turn is stopped."""

    session_id: str
    message_id: str
    call_id: str
    agent: str
    directory: Path
    """Where the session works: relative paths start here."""
    worktree: Path
    """The root of the project; paths outside of it ask `external_directory`."""
    output_directory: Path
    """Where Managed Tool Output Files live; readable though it is outside of the worktree."""
    model_takes_files: bool
    abort: asyncio.Event

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Return when the rules or the user allow it; raise PermissionDenied/PermissionRejected otherwise."""

    async def update(self, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        """Show progress on the card of the running call (cheap; coalesced by the runtime)."""

    async def write_file(self, path: Path, content: bytes, *, expected: bytes | None) -> None:
        """Write a file through the ledger (before and after kept), atomically, mode kept.

        `expected` is what the tool read before (None: the file must not exist); if the file is
        different now, raise ToolError and leave it alone.
        """

    async def around_shell(self, run: Callable[[], Awaitable[None]]) -> None:
        """Run something that may change any file; what it changed goes into the ledger."""

    async def read_todos(self) -> list[Todo]: ...

    async def write_todos(self, todos: Sequence[Todo]) -> None: ...


Input = TypeVar("Input", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Tool(Generic[Input]):
    """`permission` is the name that a rule must not deny outright for the model to see the tool."""

    name: str
    description: str
    input: type[Input]
    execute: Callable[[Input, ToolContext], Awaitable[ToolResult]]
    permission: str

    def schema(self) -> dict[str, Any]:
        """The JSON schema the model is shown; made once, so it must not be changed."""
        return _schema(self.input)


@cache
def _schema(input: type[BaseModel]) -> dict[str, Any]:
    schema = input.model_json_schema()
    schema.pop("title", None)
    for prop in schema.get("properties", {}).values():
        prop.pop("title", None)
    return schema

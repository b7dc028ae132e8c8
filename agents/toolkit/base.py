"""What a tool is: a name, a description, a pydantic model of its input and one coroutine.

A new tool is one new file with one `TOOL = Tool(...)` and one line in registry.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from agents.llm.families import patches
from agents.toolkit.permission.rules import Ruleset
from agents.toolkit.turn import Turn
from sessions.core.wire.patterns import is_everything, matches


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

    Output is bounded by the caller (Model Tool Output), not here. A tool that has already
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


@dataclass(frozen=True, slots=True)
class FileWrite:
    """`expected` is what the tool read before (None: there was no file); `content` None removes the file. A
    new file gets the mode of `mode_of`, which it is moved from."""

    path: Path
    content: bytes | None
    expected: bytes | None
    mode_of: Path | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person allowed. `contents` has, by path as the request named it, the text that they put in place
    of the proposed one (None: this file stays as it is); empty when they allowed it as proposed. `words` are
    what they said with it."""

    contents: Mapping[str, str | None] = field(default_factory=dict)
    words: str = ""
    reviewed: str = ""
    """Why the reviewer allowed it, where no person did."""


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the user: `header` is a short label; `custom` allows an answer in own words."""

    question: str
    header: str
    options: Sequence[Option]
    multiple: bool = False
    custom: bool = True


@dataclass(frozen=True, slots=True)
class Errand:
    """Work for a subagent; `task_id` is the child session to go on with, empty for a new one."""

    agent: str
    description: str
    prompt: str
    task_id: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a subagent came back with: the id of its session and its last text."""

    task_id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call that a tool made (`batch`) ended: a result, or the words of its failure."""

    result: ToolResult | None
    error: str = ""


class ToolContext(Protocol):
    """What the runtime gives to a call. Paths are absolute; `abort` is set when the turn is stopped."""

    turn: Turn
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
        outdated: Callable[[], bool] | None = None,
        rules: Ruleset | None = None,
    ) -> Approval:
        """Return when the rules or the user allow it; raise PermissionDenied/PermissionRejected otherwise.
        `rules` are those of the turn, if not as they are.

        `outdated` tells, now and then and after the answer, whether what is asked about is no longer so; it
        may block. Then the request is withdrawn and Outdated raised.
        """

    async def update(self, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        """Show progress on the card of the running call (cheap; coalesced by the runtime)."""

    def keep(self, content: bytes) -> str:
        """Put content into the project's object store; its address. Blocks; raises OSError."""

    def read_file(self, path: Path) -> bytes | None:
        """What a file holds for this session: staged content in review mode, else what is on the disk; None
        for no file. Blocks; raises OSError.
        """

    def staged_files(self) -> Mapping[Path, bool]:
        """The real paths that are not for this session what they are on the disk, the newest edit first:
        whether there is a file, or it is gone. Empty but in review mode. Blocks.
        """

    async def write_files(self, writes: Sequence[FileWrite]) -> list[FileWrite]:
        """Write files through the ledger (before and after kept), each atomically, modes kept: all or none.

        A file that is no longer what the tool read is changed by place; where the same lines are others now,
        ToolError is raised and no file is changed. Formatters run afterwards. They come back in order as
        they were made: what was there, and what is there now.
        """

    async def visited(self, path: Path) -> None:
        """A file was read. What the instructions of its folders say counts from here on; `write_files` says
        so by itself."""

    async def around_shell(self, run: Callable[[], Awaitable[None]]) -> None:
        """Run something that may change any file; what it changed goes into the ledger."""

    async def read_todos(self) -> list[Todo]: ...

    async def write_todos(self, todos: Sequence[Todo]) -> None: ...

    async def question(self, questions: Sequence[Question]) -> list[list[str]]:
        """The user's answers, one list of labels or own words for each; raises QuestionRejected."""

    async def steer(self, text: str, *, agent: str = "") -> None:
        """Admit a synthetic prompt that the session goes on with at the next safe boundary."""

    async def delegate(self, errand: Errand) -> Report:
        """Let a subagent work in a child session and wait for it; raises ToolError."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Run another tool as a call of its own, with its own part, permissions and settlement."""


Input = TypeVar("Input", bound=BaseModel)


def always(turn: Turn) -> bool:
    return True


def by_patch(turn: Turn) -> bool:
    """Offered to models that edit by patches."""
    return patches(turn.model)


def by_edit(turn: Turn) -> bool:
    """Offered to all other models."""
    return not patches(turn.model)


def by_request(name: str) -> Callable[[Turn], bool]:
    """Offered where `tools` of the configuration, or of the agent in it, switches the tool on."""

    def asked(turn: Turn) -> bool:
        agent = turn.config.agent.get(turn.agent.name)
        chosen = [*turn.config.tools.items(), *(agent.tools.items() if agent else ())]
        said = [on for pattern, on in chosen if not is_everything(pattern) and matches(pattern, name)]
        return bool(said and said[-1])

    return asked


@dataclass(frozen=True, slots=True)
class Tool(Generic[Input]):
    """`permission` is the name that a rule must not deny outright for the model to see the tool; no rule
    concerns a tool that has none.

    `offered` says whether the model of a turn is shown it; `describe` gives a description that depends on
    the turn, in place of `description`; `without` names arguments that a turn has no use for. `parameters` is
    shown in place of the schema of `input`, for tools
    whose arguments somebody else defines and checks (`input` is then FreeInput).
    """

    name: str
    description: str
    input: type[Input]
    execute: Callable[[Input, ToolContext], Awaitable[ToolResult]]
    permission: str
    offered: Callable[[Turn], bool] = always
    describe: Callable[[Turn], str] | None = None
    without: Callable[[Turn], Collection[str]] | None = None
    parameters: Mapping[str, Any] | None = None

    def schema(self, turn: Turn) -> Mapping[str, Any]:
        """The JSON schema the model is shown; made once, so it must not be changed."""
        schema = self.parameters if self.parameters is not None else _schema(self.input)
        gone = self.without(turn) if self.without else ()
        if not gone:
            return schema
        properties = {name: value for name, value in schema["properties"].items() if name not in gone}
        return {**schema, "properties": properties}


class FreeInput(BaseModel):
    """Any arguments, kept as they came: `model_extra`."""

    model_config = ConfigDict(extra="allow")


@cache
def _schema(input: type[BaseModel]) -> dict[str, Any]:
    schema = input.model_json_schema()
    schema.pop("title", None)
    for prop in schema.get("properties", {}).values():
        prop.pop("title", None)
    return schema

"""The twelve kinds of part and the state machine of a tool call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from .base import Amount, MessageID, ModelRef, NamedError, SessionID, Tokens, Wire


class Span(Wire):
    """Milliseconds since the epoch."""

    start: Amount
    end: Amount | None = None
    compacted: Amount | None = None


class Created(Wire):
    created: Amount


class PartBase(Wire):
    id: str
    session_id: SessionID
    message_id: MessageID


class TextPart(PartBase):
    type: Literal["text"] = "text"
    text: str = ""
    synthetic: bool | None = None
    ignored: bool | None = None
    time: Span | None = None
    metadata: dict[str, Any] | None = None


class ReasoningPart(PartBase):
    type: Literal["reasoning"] = "reasoning"
    text: str = ""
    time: Span
    metadata: dict[str, Any] | None = None


class Mention(Wire):
    """What stands in the prompt for a file or an agent, and from where to where."""

    value: str
    start: float
    end: float


class Position(Wire):
    """Both from 0."""

    line: Amount
    character: Amount


class Range(Wire):
    start: Position
    end: Position


class FileSource(Wire):
    type: Literal["file"]
    text: Mention
    path: str


class SymbolSource(Wire):
    """`kind` is one of the language server protocol's `SymbolKind`."""

    type: Literal["symbol"]
    text: Mention
    path: str
    range: Range
    name: str
    kind: Amount


class ResourceSource(Wire):
    """Of an MCP server."""

    type: Literal["resource"]
    text: Mention
    client_name: str = Field(alias="clientName")
    uri: str


Source = Annotated[FileSource | SymbolSource | ResourceSource, Field(discriminator="type")]


def _fitting(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    try:
        return check(value)
    except ValidationError:
        return None


FITTING = WrapValidator(_fitting)
"""Leaves out what does not fit: it says no more than which words of the prompt a part stands for."""


class FilePart(PartBase):
    type: Literal["file"] = "file"
    mime: str
    url: str
    filename: str | None = None
    source: Annotated[Source | None, FITTING] = None


class Pending(Wire):
    status: Literal["pending"] = "pending"
    input: dict[str, Any] = Field(default_factory=dict)
    raw: str = ""


class Running(Wire):
    status: Literal["running"] = "running"
    input: dict[str, Any]
    title: str | None = None
    metadata: dict[str, Any] | None = None
    time: Span


class Completed(Wire):
    status: Literal["completed"] = "completed"
    input: dict[str, Any]
    output: str
    title: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    time: Span
    attachments: list[FilePart] | None = None


class Failed(Wire):
    status: Literal["error"] = "error"
    input: dict[str, Any]
    error: str
    metadata: dict[str, Any] | None = None
    time: Span


ToolState = Annotated[Pending | Running | Completed | Failed, Field(discriminator="status")]


class ToolPart(PartBase):
    type: Literal["tool"] = "tool"
    call_id: str = Field(alias="callID")
    tool: str
    state: ToolState
    metadata: dict[str, Any] | None = None


class StepStartPart(PartBase):
    type: Literal["step-start"] = "step-start"
    snapshot: str | None = None


class StepFinishPart(PartBase):
    type: Literal["step-finish"] = "step-finish"
    reason: str
    snapshot: str | None = None
    cost: float = 0.0
    tokens: Tokens = Field(default_factory=Tokens)


class PatchPart(PartBase):
    type: Literal["patch"] = "patch"
    hash: str
    files: list[str]


class SnapshotPart(PartBase):
    type: Literal["snapshot"] = "snapshot"
    snapshot: str


class SubtaskPart(PartBase):
    type: Literal["subtask"] = "subtask"
    prompt: str
    description: str
    agent: str
    model: ModelRef | None = None
    command: str | None = None


class AgentPart(PartBase):
    type: Literal["agent"] = "agent"
    name: str
    source: Annotated[Mention | None, FITTING] = None


class RetryPart(PartBase):
    type: Literal["retry"] = "retry"
    attempt: Amount
    error: NamedError
    time: Created


class CompactionPart(PartBase):
    type: Literal["compaction"] = "compaction"
    auto: bool = False
    overflow: bool | None = None
    tail_start_id: str | None = None
    """The message from where on the model still sees everything."""
    metadata: dict[str, Any] | None = None
    """Once it is complete: `messages` summed up, tokens `before` and `after`."""


Part = Annotated[
    TextPart
    | ReasoningPart
    | FilePart
    | ToolPart
    | StepStartPart
    | StepFinishPart
    | PatchPart
    | SnapshotPart
    | SubtaskPart
    | AgentPart
    | RetryPart
    | CompactionPart,
    Field(discriminator="type"),
]

PART: TypeAdapter[Part] = TypeAdapter(Part)

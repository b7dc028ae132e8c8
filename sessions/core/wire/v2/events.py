"""Events of a session as the second protocol tells them: `session.next.…`, each with its own data."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from sessions.core.wire.base import MessageID, SessionID, Tokens, Wire
from sessions.core.wire.session import SessionModel
from sessions.core.wire.v2.base import ErrorUnknown, LocationRef
from sessions.core.wire.v2.content import ToolContent
from sessions.core.wire.v2.prompts import Delivery, PromptInfo

PREFIX = "session.next."


class Durable(Wire):
    """`seq` is the cursor; it rises within a session, whose id `aggregateID` is."""

    aggregate_id: str = Field(alias="aggregateID")
    seq: int
    version: int = 1


class EventV2(Wire):
    """`durable` for what is in the log."""

    id: str
    type: str
    durable: Durable | None = None
    location: LocationRef | None = None
    data: dict[str, Any]


class History(Wire):
    data: list[EventV2]
    has_more: bool = Field(alias="hasMore")


class Told(Wire):
    """What an event tells; `kind` is its type after `session.next.`."""

    kind: ClassVar[str]
    timestamp: int
    session_id: SessionID


class OfMessage(Told):
    message_id: MessageID


class OfAnswer(Told):
    message_id: str = Field(alias="assistantMessageID")


class OfCall(OfAnswer):
    call_id: str = Field(alias="callID")


class Executed(Wire):
    """Whether the provider ran a call itself."""

    executed: bool = False


class Settled(OfCall):
    provider: Executed = Field(default_factory=Executed)


class PromptAdmitted(OfMessage):
    kind = "prompt.admitted"
    prompt: PromptInfo
    delivery: Delivery


class Prompted(PromptAdmitted):
    kind = "prompted"


class SyntheticSaid(OfMessage):
    kind = "synthetic"
    text: str


class ShellStarted(OfMessage):
    kind = "shell.started"
    call_id: str = Field(alias="callID")
    command: str


class ShellEnded(Told):
    kind = "shell.ended"
    call_id: str = Field(alias="callID")
    output: str


class StepStarted(OfAnswer):
    kind = "step.started"
    agent: str
    model: SessionModel
    snapshot: str | None = None


class StepEnded(OfAnswer):
    kind = "step.ended"
    finish: str
    cost: float
    tokens: Tokens
    snapshot: str | None = None


class StepFailed(OfAnswer):
    kind = "step.failed"
    error: ErrorUnknown


class TextStarted(OfAnswer):
    kind = "text.started"
    text_id: str = Field(alias="textID")


class TextDelta(TextStarted):
    kind = "text.delta"
    delta: str


class TextEnded(TextStarted):
    kind = "text.ended"
    text: str


class ReasoningStarted(OfAnswer):
    kind = "reasoning.started"
    reasoning_id: str = Field(alias="reasoningID")


class ReasoningDelta(ReasoningStarted):
    kind = "reasoning.delta"
    delta: str


class ReasoningEnded(ReasoningStarted):
    kind = "reasoning.ended"
    text: str


class InputStarted(OfCall):
    kind = "tool.input.started"
    name: str


class InputEnded(OfCall):
    kind = "tool.input.ended"
    text: str


class ToolCalled(Settled):
    kind = "tool.called"
    tool: str
    input: dict[str, Any]


class ToolProgress(OfCall):
    kind = "tool.progress"
    structured: dict[str, Any]
    content: list[ToolContent] = Field(default_factory=list)


class ToolSuccess(Settled):
    kind = "tool.success"
    structured: dict[str, Any]
    content: list[ToolContent]
    output_paths: Annotated[list[str] | None, Field(alias="outputPaths")] = None


class ToolFailed(Settled):
    kind = "tool.failed"
    error: ErrorUnknown


class RetryError(Wire):
    message: str
    is_retryable: bool = Field(alias="isRetryable")


class Retried(Told):
    kind = "retried"
    attempt: int
    error: RetryError


class CompactionStarted(OfMessage):
    kind = "compaction.started"
    reason: Literal["auto", "manual"]


class CompactionDelta(OfMessage):
    kind = "compaction.delta"
    text: str


class CompactionEnded(CompactionStarted):
    kind = "compaction.ended"
    text: str
    recent: str = ""

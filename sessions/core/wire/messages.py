"""User and assistant messages."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.utils.translation.trans_null import gettext_noop
from pydantic import Field, TypeAdapter

from .base import FileDiff, ModelRef, NamedError, SessionID, Tokens, Wire
from .formats import OutputFormat
from .parts import Part

AUTH_FAILED = "ProviderAuthError"
"""The error of an answer that the provider refused for the key."""
ABORTED = "MessageAbortedError"
"""The error of an answer that was cut off: its message says by what."""
STOPPED_BY_USER = "Stopped."
SERVER_ENDED = gettext_noop("The server ended during this turn. What was done until then is kept.")


class MessageTime(Wire):
    created: int
    completed: int | None = None


class MessagePath(Wire):
    cwd: str
    root: str


class UserSummary(Wire):
    title: str | None = None
    body: str | None = None
    diffs: list[FileDiff] = Field(default_factory=list)


class UserMessage(Wire):
    id: str
    session_id: SessionID
    role: Literal["user"] = "user"
    time: MessageTime
    agent: str
    model: ModelRef
    format: OutputFormat | None = None
    summary: UserSummary | None = None
    system: str | None = None
    tools: dict[str, bool] | None = None


class AssistantMessage(Wire):
    id: str
    session_id: SessionID
    role: Literal["assistant"] = "assistant"
    time: MessageTime
    parent_id: str = Field(alias="parentID")
    model_id: str = Field(alias="modelID")
    provider_id: str = Field(alias="providerID")
    mode: str
    agent: str
    path: MessagePath
    cost: float = 0.0
    tokens: Tokens = Field(default_factory=Tokens)
    finish: str | None = None
    error: NamedError | None = None
    summary: bool | None = None
    structured: Any = None
    """The answer in the form that the prompt's `format` asks for."""
    variant: str | None = None


Message = Annotated[UserMessage | AssistantMessage, Field(discriminator="role")]

MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)


class MessageWithParts(Wire):
    info: Message
    parts: list[Part] = Field(default_factory=list)


class PromptPart(Wire):
    """A part as a client sends it in a prompt: text, a file, an agent or a subtask; the id is optional."""

    type: Literal["text", "file", "agent", "subtask"]
    id: Annotated[str, Field(pattern="^prt")] | None = None

    def fields(self) -> dict[str, Any]:
        return self.wire()

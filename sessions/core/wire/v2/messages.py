"""The messages of a session, of eight kinds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sessions.core.wire.base import SessionID, Tokens, Wire
from sessions.core.wire.parts import Created
from sessions.core.wire.session import SessionModel
from sessions.core.wire.v2.base import ErrorUnknown
from sessions.core.wire.v2.content import Content, Lasting
from sessions.core.wire.v2.prompts import AgentAttachment, FileAttachment


class Timed(Wire):
    id: str
    time: Created


class AgentSwitchedMessage(Timed):
    type: Literal["agent-switched"] = "agent-switched"
    agent: str


class ModelSwitchedMessage(Timed):
    type: Literal["model-switched"] = "model-switched"
    model: SessionModel


class UserMessageV2(Timed):
    type: Literal["user"] = "user"
    text: str
    files: list[FileAttachment] | None = None
    agents: list[AgentAttachment] | None = None


class SyntheticMessage(Timed):
    """A prompt that the program itself gives."""

    type: Literal["synthetic"] = "synthetic"
    session_id: SessionID
    text: str


class SystemMessage(Timed):
    """A Mid-Conversation System Message."""

    type: Literal["system"] = "system"
    text: str


class ShellMessage(Wire):
    """A command that the user ran."""

    id: str
    type: Literal["shell"] = "shell"
    time: Lasting
    call_id: str = Field(alias="callID")
    command: str
    output: str


class StepSnapshots(Wire):
    """Of the files before and after a step, and the files it changed."""

    start: str | None = None
    end: str | None = None
    files: list[str] | None = None


class AssistantMessageV2(Wire):
    id: str
    type: Literal["assistant"] = "assistant"
    time: Lasting
    agent: str
    model: SessionModel
    content: list[Content]
    snapshot: StepSnapshots | None = None
    finish: str | None = None
    cost: float | None = None
    tokens: Tokens | None = None
    error: ErrorUnknown | None = None


class CompactionMessage(Timed):
    """`recent` is the end of the conversation where that goes into the text; here its messages stay."""

    type: Literal["compaction"] = "compaction"
    reason: Literal["auto", "manual"]
    summary: str
    recent: str = ""


SessionMessage = Annotated[
    AgentSwitchedMessage
    | ModelSwitchedMessage
    | UserMessageV2
    | SyntheticMessage
    | SystemMessage
    | ShellMessage
    | AssistantMessageV2
    | CompactionMessage,
    Field(discriminator="type"),
]

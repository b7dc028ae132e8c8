"""Sessions, their status, todos and permission requests (seed 001; seed 004 §7.4, §16)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import SessionID, Wire


class SessionModel(Wire):
    id: str
    provider_id: str = Field(alias="providerID")
    variant: str | None = None


class Status(Wire):
    """`idle`, `busy`, or `retry` with attempt, message and the time (ms) of the next try."""

    type: Literal["idle", "busy", "retry"] = "idle"
    attempt: int | None = None
    message: str | None = None
    next: int | None = None


class TodoInfo(Wire):
    content: str
    status: str = "pending"
    priority: str = "medium"


class ToolRef(Wire):
    message_id: str = Field(alias="messageID")
    call_id: str = Field(alias="callID")


class PermissionInfo(Wire):
    id: str
    session_id: SessionID
    permission: str
    patterns: list[str]
    metadata: dict[str, Any] = Field(default_factory=dict)
    always: list[str] = Field(default_factory=list)
    tool: ToolRef | None = None
    hash: str | None = None
    """Of what is asked, ours: an answer that names it is taken for exactly this."""

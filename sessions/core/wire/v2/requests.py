"""What waits for a person: permissions; questions have one shape in both protocols."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from sessions.core.wire.base import SessionID, Wire
from sessions.core.wire.session import PermissionInfo, ToolRef

Effect = Literal["allow", "deny", "ask"]
Reply = Literal["once", "always", "reject"]


class ToolSource(ToolRef):
    type: Literal["tool"] = "tool"


class PermissionV2(Wire):
    id: str
    session_id: SessionID
    action: str
    resources: list[str]
    save: list[str] | None = None
    metadata: dict[str, Any] | None = None
    source: ToolSource | None = None


class Decided(Wire):
    id: str
    effect: Effect


class SavedPermission(Wire):
    id: str
    project_id: str = Field(alias="projectID")
    action: str
    resource: str


class Answers(Wire):
    answers: list[list[str]]


def permission_of(info: PermissionInfo) -> PermissionV2:
    """Of the first protocol's."""
    source = ToolSource(**info.tool.model_dump()) if info.tool else None
    return PermissionV2(
        id=info.id,
        session_id=info.session_id,
        action=info.permission,
        resources=info.patterns,
        save=info.always or None,
        metadata=info.metadata or None,
        source=source,
    )

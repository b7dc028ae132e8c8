"""A session, and an undo that can still be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from sessions.core.wire.base import Tokens, Wire
from sessions.core.wire.session import SessionModel, SessionTime
from sessions.core.wire.v2.base import LocationRef, tokens_of


class RevertState(Wire):
    """`diff` is what taking back has changed in the files."""

    message_id: str = Field(alias="messageID")
    part_id: Annotated[str | None, Field(alias="partID")] = None
    snapshot: str | None = None
    diff: str | None = None


class SessionV2(Wire):
    id: str
    parent_id: Annotated[str | None, Field(alias="parentID")] = None
    project_id: str = Field(alias="projectID")
    agent: str | None = None
    model: SessionModel | None = None
    cost: float
    tokens: Tokens
    time: SessionTime
    title: str
    location: LocationRef
    subpath: str | None = None
    revert: RevertState | None = None


class ActiveSession(Wire):
    type: Literal["running"] = "running"


def session_of(info: Mapping[str, Any]) -> SessionV2:
    """Of the first protocol's session (`SessionInfo`)."""
    return SessionV2(
        id=info["id"],
        parent_id=info.get("parentID"),
        project_id=info["projectID"],
        agent=info.get("agent"),
        model=info.get("model"),
        cost=info["cost"],
        tokens=tokens_of(info["tokens"]),
        time=SessionTime(
            created=info["time"]["created"],
            updated=info["time"]["updated"],
            archived=info["time"].get("archived"),
        ),
        title=info["title"],
        location=LocationRef(directory=info["directory"]),
        subpath=info.get("path") or None,
        revert=info.get("revert"),
    )

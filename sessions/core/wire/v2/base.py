"""What shapes of the second protocol share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, StringConstraints

from sessions.core.wire.base import Tokens, Wire

T = TypeVar("T")

Plain = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
"""What every database takes: no null character, no half of one (a lone surrogate)."""


class Data(Wire, Generic[T]):
    data: T


class Cursors(Wire):
    previous: str | None = None
    next: str | None = None


class Page(Wire, Generic[T]):
    data: list[T]
    cursor: Cursors


class LocationRef(Wire):
    directory: str
    workspace_id: str | None = Field(default=None, alias="workspaceID")


class LocationOf(Wire):
    id: str
    directory: str


class LocationInfo(LocationRef):
    project: LocationOf


class Located(Wire, Generic[T]):
    location: LocationInfo
    data: T


class ErrorUnknown(Wire):
    """Every error within a conversation."""

    type: Literal["unknown"] = "unknown"
    message: str


def tokens_of(counted: Mapping[str, Any] | None) -> Tokens:
    """Without their total, which this protocol does not have."""
    counted = counted or {}
    cache = counted.get("cache") or {}
    return Tokens(
        input=counted.get("input", 0),
        output=counted.get("output", 0),
        reasoning=counted.get("reasoning", 0),
        cache=Tokens.Cache(read=cache.get("read", 0), write=cache.get("write", 0)),
    )


def error_of(named: Mapping[str, Any]) -> ErrorUnknown:
    """Of the first protocol's `{"name", "data": {"message"}}`."""
    return ErrorUnknown(message=str((named.get("data") or {}).get("message") or named.get("name", "")))

"""Opaque cursors: a place in a list and what was asked for, so that a page follows from the one before."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Literal, TypeVar

from pydantic import ValidationError

from sessions.api.v2.base import InvalidRequest, Tagged
from sessions.core.wire.base import Wire

Order = Literal["asc", "desc"]
Direction = Literal["next", "previous"]

MOST = 1000
"""Items of one page, whatever is asked for."""
LONGEST = 4096


class Place(Wire):
    """An item of a list, and which way to go on from it."""

    order: Order = "desc"
    direction: Direction = "next"
    id: str

    @property
    def newest(self) -> bool:
        """Whether the newest comes next in this direction."""
        return (self.order == "desc") == (self.direction == "next")


Kind = TypeVar("Kind", bound=Place)


def encode(place: Place) -> str:
    text = json.dumps(place.wire(), separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(cursor: str, kind: type[Kind]) -> Kind:
    """Raises Tagged (InvalidCursorError)."""
    try:
        if len(cursor) > LONGEST:
            raise ValueError("it is too long")
        padded = cursor + "=" * (-len(cursor) % 4)
        return kind.model_validate_json(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValidationError, ValueError, binascii.Error) as error:
        raise invalid("Invalid cursor") from error


def invalid(message: str) -> Tagged:
    return Tagged(400, "InvalidCursorError", message)


def size(limit: int | None, default: int) -> int:
    """How many items a page has. Raises InvalidRequest."""
    if limit is not None and limit <= 0:
        raise InvalidRequest("limit: it must be greater than 0", "limit", "Query")
    return min(limit or default, MOST)

"""A name for each request, by which lines of the log and of a proxy are found together."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from contextvars import ContextVar

HEADER = b"x-request-id"
current: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being answered; empty outside of one."""
_SANE = re.compile(rb"[A-Za-z0-9._-]{1,64}")


def begin(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The one that came along, where it is short and harmless, else a new one; it is the current one now."""
    given = next((value for name, value in headers if name == HEADER), b"")
    name = given.decode("ascii") if _SANE.fullmatch(given) else secrets.token_hex(8)
    current.set(name)
    return name

"""Tickets for a browser that cannot send headers: each opens one terminal's socket, once, for a minute."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sessions.core.bounded import Bounded

SECONDS = 60
_KEPT = 1000


@dataclass
class Tickets:
    """`clock` counts seconds."""

    clock: Callable[[], float] = time.monotonic
    _issued: Bounded[str, tuple[str, float]] = field(default_factory=lambda: Bounded(_KEPT))
    """Terminal and end of each."""

    def issue(self, pty_id: str) -> str:
        ticket = secrets.token_urlsafe(32)
        self._issued[ticket] = (pty_id, self.clock() + SECONDS)
        return ticket

    def redeem(self, pty_id: str, ticket: str) -> bool:
        """Whether it opens this terminal. It is used up in any case."""
        issued_for, end = self._issued.pop(ticket, ("", 0.0))
        return issued_for == pty_id and self.clock() < end


tickets = Tickets()

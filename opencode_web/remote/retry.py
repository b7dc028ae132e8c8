"""When a request is repeated, and after how long: exponential backoff with full jitter."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})
"""Methods that may be repeated whatever became of the first try (RFC 9110 §9.2.2)."""
RETRIED = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Backoff:
    """All times in seconds."""

    tries: int = 4
    base: float = 0.25
    longest: float = 4.0
    patience: float = 30.0
    """The longest wait a server may ask for; a longer one is told to the caller instead."""

    def delay(self, tried: int, asked: float | None = None) -> float:
        """How long to wait after `tried` tries; `asked` is what the server's Retry-After says."""
        if asked is not None:
            return asked
        return random.uniform(0, min(self.longest, self.base * 2 ** (tried - 1)))  # noqa: S311 (jitter)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header: a number or a date (RFC 9110 §10.2.3); None without a usable one."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())

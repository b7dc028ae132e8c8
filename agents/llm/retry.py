"""How long to wait before a failed request is sent again (seed 004 §12.1 and §12.2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from agents.llm.types import ModelError

_FIRST = 2.0
_MAX_BACKOFF = 30.0
_MAX_TOLD = (2**31 - 1) / 1000
_MAX_DOUBLINGS = 10


def delay(error: ModelError, attempt: int, now: float) -> float | None:
    """Seconds to wait before try `attempt` + 1 (the first failure is attempt 1); None: do not try again.

    What the provider's headers say comes first (at most about 24 days), else 2 s doubling up to 30 s.
    `now` is in seconds since the epoch.
    """
    if not error.retryable:
        return None
    told = _told(error.headers, now)
    if told is not None:
        return min(max(told, 0.0), _MAX_TOLD)
    return min(_FIRST * 2.0 ** min(attempt - 1, _MAX_DOUBLINGS), _MAX_BACKOFF)


def _told(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds out of `retry-after-ms` or `retry-after` (RFC 9110 §10.2.3: seconds or a date, by the
    provider's clock, which `date` tells)."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    return (
        seconds if seconds is not None else _until(value, now + (_until(headers.get("date", ""), now) or 0.0))
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None


def _until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now

"""What comes of a provider turn that goes wrong: another attempt later, or an error."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from agents.agent import pauses
from agents.agent.run import Run
from agents.agent.steps.recorder import Recorder
from agents.llm.types import AuthFailed, ContextOverflow, ModelError
from sessions.core.db import in_db
from sessions.core.store import sessions as session_store
from sessions.core.wire.base import NamedError
from sessions.core.wire.messages import AUTH_FAILED
from sessions.core.wire.session import Status

logger = logging.getLogger(__name__)

MAX_RETRIES = 8
HASTY_RETRIES = 2
HASTY_SECONDS = 30.0


async def pause(
    run: Run, recorder: Recorder, attempt: int, error: ModelError, *, patient: bool = True
) -> None:
    """Wait before another attempt, as the page shows; not for long where there is another model to go on
    with, which is not `patient`. Raises the error when there is to be none."""
    seconds = delay(error, attempt, time.time())
    spent = attempt > (MAX_RETRIES if patient else HASTY_RETRIES)
    if seconds is None or spent or (seconds > HASTY_SECONDS and not patient):
        raise error
    await recorder.retrying(attempt, error)
    await pauses.pause(run.session.id, attempt, error.message, seconds)
    await in_db(session_store.set_status, run.session.id, Status(type="busy"))


async def failed(run: Run, recorder: Recorder, error: Exception) -> None:
    """The message ends with the error, and so does the turn unless it can go on otherwise."""
    logger.warning("session %s: %s", run.session.id, error)
    wire_error = named(error)
    run.error = wire_error.wire()
    await recorder.failed(wire_error)


# The wire's error of what ended a provider turn.


def named(error: Exception) -> NamedError:
    """As OpenCode names it."""
    if isinstance(error, ContextOverflow):
        return NamedError(name="ContextOverflowError", data={"message": error.message})
    if isinstance(error, AuthFailed):
        return NamedError(name=AUTH_FAILED, data={"message": error.message, "providerID": ""})
    if isinstance(error, ModelError):
        data = {"message": error.message, "statusCode": error.status, "isRetryable": error.retryable}
        known = {key: value for key, value in data.items() if value is not None}
        return NamedError(name="APIError", data=known)
    return NamedError(name="UnknownError", data={"message": str(error)})


# How long to wait before a failed request is sent again.

_FIRST = 2.0
_MAX_BACKOFF = 30.0
_MAX_TOLD = (2**31 - 1) / 1000
_MAX_DOUBLINGS = 10


def delay(error: ModelError, attempt: int, now: float) -> float | None:
    """Seconds to wait before try `attempt` + 1 (the first failure is attempt 1); None: do not try again.

    What the provider says comes first, in headers or else in words (at most about 24 days), else 2 s doubling
    up to 30 s.
    `now` is in seconds since the epoch.
    """
    if not error.retryable:
        return None
    told = _told(error.headers, now)
    if told is None:
        told = _in_words(f"{error.message}\n{error.body}")
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


_WAIT = re.compile(
    r"""(?:"retryDelay":\s*"|\b(?:re)?try (?:again )?in )((?:\d+(?:\.\d+)? ?(?:h|ms|m|s))+)""", re.IGNORECASE
)
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def _in_words(text: str) -> float | None:
    """Seconds out of google.rpc.RetryInfo, or of "try again in 1m30.5s"."""
    found = _WAIT.search(text)
    pieces = re.findall(r"([\d.]+) ?(h|ms|m|s)", found[1].lower()) if found else ()
    return sum(float(number) * _SECONDS[unit] for number, unit in pieces) if pieces else None


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

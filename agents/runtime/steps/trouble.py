"""What comes of a provider turn that goes wrong: another attempt later, or an error (seed 004 §12)."""

from __future__ import annotations

import asyncio
import logging
import time

from agents.llm.retry import delay
from agents.llm.types import ModelError
from agents.runtime.run import Run
from agents.runtime.steps.errors import named
from agents.runtime.steps.recorder import Recorder
from sessions.db import in_db
from sessions.ids import now
from sessions.store import sessions as session_store
from sessions.wire.session import Status

logger = logging.getLogger(__name__)

MAX_RETRIES = 8


async def pause(run: Run, recorder: Recorder, attempt: int, error: ModelError) -> None:
    """Wait before another attempt, as the page shows. Raises the error when there is to be none."""
    seconds = delay(error, attempt, time.time()) if attempt <= MAX_RETRIES else None
    if seconds is None:
        raise error
    await recorder.retrying(attempt, error)
    due = now() + int(seconds * 1000)
    status = Status(type="retry", attempt=attempt, message=error.message, next=due)
    await in_db(session_store.set_status, run.session.id, status)
    await asyncio.sleep(seconds)
    await in_db(session_store.set_status, run.session.id, Status(type="busy"))


async def failed(run: Run, recorder: Recorder, error: Exception) -> None:
    """The message ends with the error, and so does the turn unless it can go on otherwise."""
    logger.warning("session %s: %s", run.session.id, error)
    wire_error = named(error)
    run.error = wire_error.wire()
    await recorder.failed(wire_error)

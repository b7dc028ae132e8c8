"""A request in which a turn runs, with its session watched meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from opencode_web.bridge.call import Call
from opencode_web.bridge.following.failures import answered, category_of
from opencode_web.bridge.following.watch import Watch
from opencode_web.remote.errors import RemoteError

logger = logging.getLogger(__name__)

SECONDS = 600.0
"""How long a tool waits for a turn unless it is told otherwise."""
ABORT_SECONDS = 0.5
OPEN_SECONDS = 5.0

_left: set[asyncio.Task[Any]] = set()
"""Requests whose tool has answered before they did: dropping one might end its turn."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`answer` when the turn has `ended`; else what waits for an answer, or nothing if time was up."""

    ended: bool
    answer: Any = None
    waiting: list[str] = field(default_factory=list)


async def watched(
    call: Call, session_id: str, method: str, path: str, body: Any, format: Callable[[Any], str]
) -> str:
    """Carry out a long operation of the table."""
    here = await located(call, session_id)
    outcome = await run_turn(here, session_id, method, path, body)
    if not outcome.ended:
        return unfinished(session_id, outcome)
    if isinstance(outcome.answer, dict):
        answered(outcome.answer)
    return format(outcome.answer)


async def located(call: Call, session_id: str) -> Call:
    """The call at the directory of a session."""
    session = await call.get(f"/session/{session_id}")
    return call.at(session["directory"])


async def run_turn(
    call: Call, session_id: str, method: str, path: str, body: Any, seconds: float = SECONDS
) -> Outcome:
    """Send the request and wait for its end, for a request for permission or a question, or for the time.

    A turn whose tool call is cancelled is aborted.
    """
    watch = Watch(call, session_id)
    watching = asyncio.create_task(watch.asked())
    try:
        await _opened(watch, watching)
        request = asyncio.create_task(call.request(method, path, body=body, seconds=None))
        _left.add(request)
        request.add_done_callback(_forget)
        return await _first(request, watching, seconds)
    except RemoteError as error:
        reason = await watch.reason() if error.category == "server" else ""
        if not reason:
            raise
        raise RemoteError(category_of(reason), reason, status=error.status) from error
    except asyncio.CancelledError:
        await abort(call, session_id)
        raise
    finally:
        watching.cancel()


async def abort(call: Call, session_id: str) -> None:
    """End the turn of a tool call that was cancelled, though we are being cancelled ourselves."""
    with anyio.move_on_after(ABORT_SECONDS, shield=True), suppress(RemoteError):
        await call.post(f"/session/{session_id}/abort")


def unfinished(session_id: str, outcome: Outcome) -> str:
    """What to say of a turn that goes on."""
    if outcome.waiting:
        lines = "\n".join(f"- {line}" for line in outcome.waiting)
        return (
            f"Session {session_id} waits for an answer:\n{lines}\n"
            f"Then call opencode_wait with sessionID {session_id}."
        )
    return (
        f"Session {session_id} is still working. Look with opencode_check, wait with opencode_wait, "
        "or end it with opencode_session_abort."
    )


async def _opened(watch: Watch, watching: asyncio.Task[list[str]]) -> None:
    """Wait until the stream is open; a server whose stream cannot be read still takes the request."""
    opening = asyncio.create_task(watch.open.wait())
    await asyncio.wait({opening, watching}, timeout=OPEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    opening.cancel()


async def _first(request: asyncio.Task[Any], watching: asyncio.Task[list[str]], seconds: float) -> Outcome:
    now = asyncio.get_running_loop().time
    waiting: set[asyncio.Task[Any]] = {request, watching}
    end = now() + seconds
    while True:
        finished, _ = await asyncio.wait(
            waiting, timeout=max(0.0, end - now()), return_when=asyncio.FIRST_COMPLETED
        )
        if request in finished:
            return Outcome(True, request.result())
        if not finished:
            return Outcome(False)
        waiting.discard(watching)
        if watching.exception() is None:
            return Outcome(False, waiting=watching.result())
        logger.warning("the session is no longer watched: %s", watching.exception())


def _forget(request: asyncio.Task[Any]) -> None:
    _left.discard(request)
    if not request.cancelled() and request.exception() is not None:
        logger.info("a request that nobody waited for failed: %s", request.exception())

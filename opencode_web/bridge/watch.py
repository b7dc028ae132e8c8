"""Following a session while it works: how far it is, who has to answer, when it has come to rest."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from opencode_web.bridge.call import Call
from opencode_web.bridge.formatting.messages import (
    call_name,
    error_text,
    permission_line,
    question_line,
    turn,
)
from opencode_web.bridge.remote.client import Event
from opencode_web.bridge.remote.errors import Category, RemoteError
from opencode_web.bridge.remote.errors import category_of as category_of_status

Json = dict[str, Any]


async def family(call: Call, session_id: str) -> set[str]:
    """The session and all that came of it."""
    children = await call.get(f"/session/{session_id}/children")
    below = await asyncio.gather(*(family(call, child["id"]) for child in children))
    return {session_id}.union(*below)


async def pending(call: Call, sessions: set[str] | None = None) -> list[str]:
    """A line for each request that waits, of these sessions or of all."""
    permissions, questions = await asyncio.gather(call.get("/permission"), call.get("/question"))
    return [
        line(request)
        for line, requests in ((permission_line, permissions), (question_line, questions))
        for request in requests
        if sessions is None or request["sessionID"] in sessions
    ]


INTERVAL = 1.0
"""Seconds between two words about text that is being written."""


class Progress:
    """Texts for the one who waits; none for events that say nothing new."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._characters = 0
        self._last = float("-inf")
        self._calls: dict[str, str] = {}

    def note(self, event: Event) -> str | None:
        given = event.properties
        match event.type:
            case "message.part.delta":
                return self._delta(given)
            case "message.part.updated" if given["part"]["type"] == "tool":
                return self._call(given["part"])
            case "session.status" if given["status"]["type"] == "retry":
                return f"retrying, attempt {given['status']['attempt']}: {given['status']['message']}"
            case "session.status" if (
                given["status"]["type"] == "busy" and not self._calls and not self._characters
            ):
                return "working"
            case "todo.updated":
                done = sum(item["status"] == "completed" for item in given["todos"])
                return f"{done} of {len(given['todos'])} todos are done"
            case "session.compacted":
                return "the conversation was compacted"
        return None

    def _delta(self, given: dict[str, str]) -> str | None:
        self._characters += len(given["delta"])
        now = self._clock()
        if now - self._last < INTERVAL:
            return None
        self._last = now
        return f"{self._characters} characters written"

    def _call(self, part: dict[str, object]) -> str | None:
        """A call is told once in each of its states."""
        state = part["state"]
        assert isinstance(state, dict)
        status, call_id = str(state["status"]), str(part["callID"])
        if status == "pending" or self._calls.get(call_id) == status:
            return None
        self._calls[call_id] = status
        return f"{call_name(part)} ({status})"


logger = logging.getLogger(__name__)

STREAM_TRIES = 3
REASON_SECONDS = 0.5
LOOKS = frozenset(
    {
        "server.connected",
        "server.heartbeat",
        "session.idle",
        "session.error",
        "permission.asked",
        "question.asked",
    }
)
"""After these it is worth looking at the state. A heartbeat is one: what a lost stream did not tell is
found within 10 s."""


class Watch:
    """The call has to be at the session's directory: events are scoped by it."""

    def __init__(self, call: Call, session_id: str) -> None:
        self.open = asyncio.Event()
        """Set when nothing that happens from now on is missed."""
        self._error: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._call = call
        self._session_id = session_id
        self._family = {session_id}
        self._progress = Progress()

    async def asked(self) -> list[str]:
        """Tell progress until somebody has to answer; a line for each request."""
        return await self._until(idle=False)

    async def settled(self) -> list[str]:
        """The same, and return an empty list when the session is idle."""
        return await self._until(idle=True)

    async def reason(self) -> str:
        """What an event says of the error a request has just been answered with; OpenCode's answer may say
        nothing of it. Empty when none comes."""
        await asyncio.wait({self._error}, timeout=REASON_SECONDS)
        return self._error.result() if self._error.done() else ""

    async def _until(self, *, idle: bool) -> list[str]:
        tries = 0
        while True:
            try:
                return await self._follow(idle=idle)
            except RemoteError as error:
                tries += 1
                if error.category != "unreachable" or tries >= STREAM_TRIES:
                    raise
                logger.info("the stream of events was lost: %s", error)

    async def _follow(self, *, idle: bool) -> list[str]:
        async with aclosing(self._call.events()) as events:
            async for event in events:
                if event.type == "server.connected":
                    self._family = await family(self._call, self._session_id)
                    self.open.set()
                await self._tell(event)
                if event.type in LOOKS:
                    requests = await pending(self._call, self._family)
                    if requests or (idle and await self._idle()):
                        return requests
        raise RemoteError("unreachable", "The stream of events ended.")

    async def _idle(self) -> bool:
        """A session is idle as well until its prompt is taken up: a request of ours that was left tells."""
        states: dict[str, dict[str, Any]] = await self._call.get("/session/status")
        if states.get(self._session_id, {}).get("type", "idle") != "idle":
            return False
        left = [request for request, session_id in _left.items() if session_id == self._session_id]
        return not left or not (await asyncio.wait(left, timeout=ANSWER_SECONDS))[1]

    async def _tell(self, event: Event) -> None:
        given = event.properties
        if event.type == "session.error" and event.session_id == self._session_id and not self._error.done():
            self._error.set_result(error_text(given.get("error") or {}))
        if event.type == "session.created" and (given["info"].get("parentID") in self._family):
            self._family.add(given["info"]["id"])
        subject = event.session_id or (given.get("part") or given.get("info") or {}).get("sessionID", "")
        if subject in self._family and (text := self._progress.note(event)):
            await self._call.report(text)


_ACCOUNT = (401, 402, 403)
"""What a provider answers to a key or an account that it does not take."""
_MISSING = re.compile(r"\bnot found\b|\bthere is no (agent|model|provider)\b", re.IGNORECASE)


def raise_failure(message: dict[str, Any], text: str = "") -> None:
    """Raise RemoteError when the assistant's message ended with an error; `text` says more of the turn."""
    error = message["info"].get("error")
    if not error:
        return
    data = error.get("data") or {}
    status = int(data.get("statusCode") or 0)
    if error["name"] == "ProviderAuthError":
        category: Category = "provider"
    elif error["name"] == "MessageAbortedError":
        category = "conflict"
    elif status in _ACCOUNT:
        category = "provider"
    elif status >= 400:
        category = category_of_status(status)
    else:
        category = category_of(error_text(error))
    raise RemoteError(category, text or turn([message]), status=status)


def category_of(reason: str) -> Category:
    """The category of an error that is told in words only."""
    return "not_found" if _MISSING.search(reason) else "server"


SECONDS = 600.0
"""How long a tool waits for a turn unless it is told otherwise."""
ABORT_SECONDS = 0.5
OPEN_SECONDS = 5.0

ANSWER_SECONDS = 1.0
"""After a turn, until its request is answered."""

_left: dict[asyncio.Task[Any], str] = {}
"""Requests whose tool has answered before they did, with their session: dropping one might end its turn."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`answer` when the turn has `ended`; else what waits for an answer, or nothing if time was up."""

    ended: bool
    answer: Any = None
    waiting: list[str] = field(default_factory=list)


async def run_operation(
    call: Call, session_id: str, method: str, path: str, body: Any, format: Callable[[Any], str]
) -> str:
    """Carry out a long operation of the table."""
    here = await at_session(call, session_id)
    outcome = await run_turn(here, session_id, method, path, body)
    if not outcome.ended:
        return unfinished(session_id, outcome)
    if isinstance(outcome.answer, dict):
        raise_failure(outcome.answer)
    return format(outcome.answer)


async def at_session(call: Call, session_id: str) -> Call:
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
        _left[request] = session_id
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
    _left.pop(request)
    if not request.cancelled() and request.exception() is not None:
        logger.info("a request that nobody waited for failed: %s", request.exception())

"""Sign-ins that wait for a person: in memory, one for each server, over after five minutes.

The `state` of the address that was shown is the only key to one (RFC 6749 §10.12): the browser comes back
from another site, so that it brings no cookie. It works once.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agents.servers.mcp.errors import SignInFailed
from agents.servers.mcp.server import Server
from sessions.core.ids import now
from sessions.core.sentences import Sentence, sentence_of

SECONDS = 300.0
_LONGEST = 300

Status = Literal["pending", "complete", "failed", "expired"]
Place = tuple[str, str]
"""Name and URL of a server."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `issuer` says of itself who answers (RFC 9207). One that was not brought by a browser
    was handed over by a client that is logged in here, which knows what it asked."""

    code: str = field(repr=False)
    state: str = field(repr=False)
    issuer: str | None = None
    by_browser: bool = True


@dataclass(slots=True, eq=False)
class Attempt:
    """`expires` is in milliseconds since 1970; `error` says why it failed. `url` is for the person's browser,
    empty until it is known. The futures are of the background loop."""

    server: Server
    shown: asyncio.Future[None] = field(repr=False)
    answer: asyncio.Future[Answer] = field(repr=False)
    url: str = field(default="", repr=False)
    state: str = field(default="", repr=False)
    expires: int = field(default_factory=lambda: now() + int(SECONDS * 1000))
    status: Status = "pending"
    error: SignInFailed | None = None
    task: asyncio.Task[None] | None = None

    @property
    def message(self) -> str:
        return sentence_of(self.error) if self.error else ""

    def show(self, url: str, state: str) -> None:
        """From now on `state` is the key to it. On the background loop."""
        self.url, self.state = url, state
        with _lock:
            _waiting[state] = self
        self.shown.set_result(None)

    def fail(self, error: SignInFailed, status: Status = "failed") -> None:
        """The first reason counts, and none after it has succeeded."""
        if self.status == "pending":
            self.status, self.error = status, error

    def settle(self, answer: Answer | SignInFailed) -> None:
        """From any thread; only the first one counts."""
        self.answer.get_loop().call_soon_threadsafe(self._settle, answer)

    def _settle(self, answer: Answer | SignInFailed) -> None:
        if self.answer.done():
            return
        if isinstance(answer, SignInFailed):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)


_lock = threading.Lock()
_attempts: dict[Place, Attempt] = {}
_waiting: dict[str, Attempt] = {}
"""By `state`."""
_scopes: dict[Place, str] = {}
"""What a server has said that a token lacks, for the next sign-in."""


def attempt_of(server: Server) -> Attempt | None:
    """The newest sign-in begun at a server, whatever became of it."""
    return _attempts.get(_place(server))


def put(attempt: Attempt) -> Attempt | None:
    """Make it the server's; the one before."""
    with _lock:
        before = _attempts.get(_place(attempt.server))
        _attempts[_place(attempt.server)] = attempt
        return before


def drop(server: Server) -> Attempt | None:
    with _lock:
        return _attempts.pop(_place(server), None)


def leave(attempt: Attempt) -> None:
    """Nothing is the key to it any longer."""
    with _lock:
        _waiting.pop(attempt.state, None)


def arrived(query: Mapping[str, str]) -> Attempt | None:
    """A browser has come back: the sign-in that it belongs to, which has its answer now; None for none."""
    given = query.get("state", "").encode()
    with _lock:
        known = [state for state in _waiting if secrets.compare_digest(state.encode(), given)]
        attempt = _waiting.pop(known[0]) if known else None
    if attempt is None:
        return None
    if code := query.get("code", ""):
        attempt.settle(Answer(code, attempt.state, query.get("iss")))
    else:
        said = query.get("error_description") or query.get("error") or "no code came back"
        attempt.settle(SignInFailed(Sentence("The sign-in was refused: %(reason)s", reason=said[:_LONGEST])))
    return attempt


def note_scope(server: Server, scope: str) -> None:
    _scopes[_place(server)] = scope


def noted_scope(server: Server) -> str:
    return _scopes.get(_place(server), "")


def _place(server: Server) -> Place:
    return server.name, server.url

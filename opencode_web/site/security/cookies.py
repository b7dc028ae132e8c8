"""Rule 6: the browser's session is a signed cookie with a random id; kept are only those that have ended.

A request that changes something and is let in by the cookie also shows the session's token. Every page
carries it under another mask, so that the length of compressed pages tells nothing about it.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.core import signing

from sessions.core.bounded import Bounded

CSRF_HEADER = "X-CSRF-Token"


def csrf_token(session_id: str, key: str) -> str:
    """The token of one browser session."""
    return hmac.digest(key.encode(), b"csrf:" + session_id.encode(), "sha256").hex()


def mask_csrf(token: str) -> str:
    """For the page that sends it back in `X-CSRF-Token`: a random mask, and the token under it."""
    secret = bytes.fromhex(token)
    mask = secrets.token_bytes(len(secret))
    return (mask + _xor(mask, secret)).hex()


def csrf_matches(sent: bytes, token: str) -> bool:
    """Whether what came in the header is the token under some mask."""
    try:
        given = bytes.fromhex(sent.decode("ascii"))
    except ValueError:
        return False
    half = len(given) // 2
    return hmac.compare_digest(_xor(given[:half], given[half:]), bytes.fromhex(token))


def _xor(mask: bytes, secret: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(mask, secret, strict=False))


LIFETIME = 30 * 24 * 3600
"""Seconds until a browser has to log in again."""
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class BrowserSession:
    id: str
    csrf: str
    expires: float
    """Unix time in seconds."""
    generation: float
    """Of all logins, as it was when this one began (`Logins.generation`)."""


class SessionCookies:
    """Makes and reads the cookie of the server on one port, sent below `base`: cookies are shared by all
    ports of a host."""

    def __init__(
        self,
        key: str,
        port: int,
        has_ended: Callable[[BrowserSession], bool] = lambda session: False,
        generation: Callable[[], float] = lambda: 0.0,
        base: str = "",
    ) -> None:
        self.port = port
        self.name = f"opencode_web_{port}"
        self._path = f"{base}/"
        self._key = key
        self._has_ended = has_ended
        self._generation = generation
        self._prefix = f"{self.name}=".encode()
        self._signer = signing.TimestampSigner(key=key, salt=f"opencode_web.session.{port}", fallback_keys=[])
        self._known: Bounded[bytes, BrowserSession] = Bounded(_REMEMBERED)

    def issue(self, secure: bool, session_id: str = "") -> str:
        """A Set-Cookie value for a new session, of that id where one is given."""
        value = self._signer.sign(f"{session_id or secrets.token_urlsafe(16)}:{self._generation()}")
        return self._header(value, LIFETIME, secure)

    def clear(self, secure: bool) -> str:
        """A Set-Cookie value that ends the session."""
        return self._header("", 0, secure)

    def read(self, headers: Iterable[bytes]) -> BrowserSession | None:
        """The session of the Cookie headers.

        Another port of this host can plant a cookie of our name beside ours, so each value is tried.
        """
        for header in headers:
            for pair in header.split(b";"):
                pair = pair.strip()
                if pair.startswith(self._prefix):
                    session = self._verify(pair[len(self._prefix) :])
                    if session:
                        return session
        return None

    def _verify(self, value: bytes) -> BrowserSession | None:
        known = self._known.get(value)
        if known is None:
            known = self._unsign(value)
            if known is None:
                return None
            self._known[value] = known
        return known if known.expires > time.time() and not self._has_ended(known) else None

    def _unsign(self, value: bytes) -> BrowserSession | None:
        try:
            text = value.decode("ascii")
            session_id, _, generation = self._signer.unsign(text, max_age=LIFETIME).partition(":")
        except (UnicodeDecodeError, signing.BadSignature):
            return None
        issued = signing.b62_decode(text.rsplit(":", 2)[1])
        csrf = csrf_token(session_id, self._key)
        return BrowserSession(session_id, csrf, issued + LIFETIME, float(generation or 0))

    def _header(self, value: str, age: int, secure: bool) -> str:
        text = f"{self.name}={value}; Path={self._path}; Max-Age={age}; HttpOnly; SameSite=Strict"
        return f"{text}; Secure" if secure else text

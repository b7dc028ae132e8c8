"""Rule 6: the browser's session is a signed cookie with a random id; kept are only those that have ended."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.core import signing

from opencode_web.security.csrf import token_for

LIFETIME = 30 * 24 * 3600
"""Seconds until a browser has to log in again."""
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class BrowserSession:
    id: str
    csrf: str
    expires: float
    """Unix time in seconds."""


class SessionCookies:
    """Makes and reads the cookie of the server on one port: cookies are shared by all ports of a host."""

    def __init__(
        self, key: str, port: int, has_ended: Callable[[BrowserSession], bool] = lambda session: False
    ) -> None:
        self.port = port
        self.name = f"opencode_web_{port}"
        self._key = key
        self._has_ended = has_ended
        self._prefix = f"{self.name}=".encode()
        self._signer = signing.TimestampSigner(key=key, salt=f"opencode_web.session.{port}", fallback_keys=[])
        self._known: dict[bytes, BrowserSession] = {}

    def issue(self, secure: bool) -> str:
        """A Set-Cookie value for a new session."""
        value = self._signer.sign(secrets.token_urlsafe(16))
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
            while len(self._known) >= _REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[value] = known
        return known if known.expires > time.time() and not self._has_ended(known) else None

    def _unsign(self, value: bytes) -> BrowserSession | None:
        try:
            text = value.decode("ascii")
            session_id = self._signer.unsign(text, max_age=LIFETIME)
        except (UnicodeDecodeError, signing.BadSignature):
            return None
        issued = signing.b62_decode(text.rsplit(":", 2)[1])
        return BrowserSession(session_id, token_for(session_id, self._key), issued + LIFETIME)

    def _header(self, value: str, age: int, secure: bool) -> str:
        text = f"{self.name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict"
        return f"{text}; Secure" if secure else text

"""Rule 2: the token in the launch URL works once, for ten minutes, and lives in memory only."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from urllib.parse import urlencode

from django.utils.http import url_has_allowed_host_and_scheme

from sessions.core.bounded import Bounded

LIFETIME = 600.0
"""Seconds."""
MAX_TOKENS = 32

PATH = "/auth/launch"


class LaunchTokens:
    """Tokens that were given out and not used yet; only their hashes are kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._expiry: Bounded[bytes, float] = Bounded(MAX_TOKENS)

    def issue(self) -> str:
        """A new token of 256 bits. Of more than 32 unused ones the oldest is dropped."""
        token = secrets.token_urlsafe(32)
        self._expiry[_digest(token)] = self._clock() + LIFETIME
        return token

    def waits(self, token: str) -> bool:
        """Whether it was not used yet, and still could be."""
        return self._expiry.get(_digest(token), 0.0) > self._clock()

    def redeem(self, token: str) -> bool:
        """Whether the token is good; afterwards it is not."""
        return self._expiry.pop(_digest(token), 0.0) > self._clock()


def launch_url(base: str, token: str, target: str = "/") -> str:
    """The address to open; `base` is the server's, without a slash at its end, `target` a path below it."""
    query = {"token": token} if target == "/" else {"token": token, "next": target}
    return f"{base}{PATH}?{urlencode(query)}"


def local_path(target: str) -> str:
    """The path to go on to: `target` when it stays on this server, else the first page."""
    local = target.startswith("/") and url_has_allowed_host_and_scheme(target, allowed_hosts=None)
    return target if local and target.isascii() and target.isprintable() else "/"


def _digest(token: str) -> bytes:
    return sha256(token.encode(errors="replace")).digest()

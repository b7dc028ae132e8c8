"""Rule 2: the token in the launch URL works once, for ten minutes, and lives in memory only."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlencode

from django.utils.http import url_has_allowed_host_and_scheme

from opencode_web.site.security.asgi import Scope
from sessions.core.bounded import Bounded

LIFETIME = 600.0
"""Seconds."""
MAX_TOKENS = 32

PATH = "/auth/launch"


Joined = Callable[[Scope], Awaitable[None]]
"""Told, before a device is let in, by which request it came."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a token is good for: a login, of the id `login` where it is for a device."""

    expires: float
    login: str = ""
    joined: Joined | None = None


class LaunchTokens:
    """Tokens that were given out and not used yet; only their hashes are kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._launches: Bounded[bytes, Launch] = Bounded(MAX_TOKENS)

    def issue(self, login: str = "", joined: Joined | None = None) -> str:
        """A new token of 256 bits, for a login of this id where one is given. Of more than 32 unused ones the
        oldest is dropped."""
        token = secrets.token_urlsafe(32)
        self._launches[_digest(token)] = Launch(self._clock() + LIFETIME, login, joined)
        return token

    def waits(self, token: str) -> bool:
        """Whether it was not used yet, and still could be."""
        found = self._launches.get(_digest(token))
        return found is not None and found.expires > self._clock()

    def redeem(self, token: str, *, of_device: bool = False) -> Launch | None:
        """What the token is good for; afterwards it is good for nothing. With `of_device` only those of
        devices are."""
        found = self._launches.pop(_digest(token), None)
        if found is None or found.expires <= self._clock() or (of_device and not found.login):
            return None
        return found


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

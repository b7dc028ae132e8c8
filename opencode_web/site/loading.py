"""The application behind the guard, loaded once the server listens.

More than half of a start is modules that an answer needs and listening does not. Meanwhile `/global/health`
is answered, by which clients see that the server is there. A person's page comes as soon as it can; whatever
else is asked waits for all that may have a part in its answer: plugins, tools, turns.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress

from opencode_web.site.security.asgi import Application, Headers, Message, Receive, Scope, Send, respond
from opencode_web.site.security.guard import STATIC
from sessions.core.wire.version import VERSION

HEALTH = {"healthy": True, "version": VERSION}
QUIET = 0.05
"""Seconds without a request after which the first page is there, with what it leads to."""
PATIENCE = 1.0
"""Seconds in which that has to come."""


class Loading:
    """`make` gives what is loaded, when pages may be asked; the server is below the path `base`."""

    def __init__(self, make: Callable[[], Awaitable[Application]], base: str) -> None:
        self._make = make
        self._health = f"{base}/global/health"
        self._files = tuple(f"{base}{path}" for path in STATIC)
        self._application: Application = _nothing
        self._loaded = asyncio.Event()
        self._begun = asyncio.Event()
        self._unanswered = 0
        self._asked = asyncio.Event()
        self._idle = asyncio.Event()

    async def load(self) -> None:
        """Raises what `make` raises."""
        self._application = await self._make()
        self._loaded.set()

    async def settle(self) -> bool:
        """Wait until the first pages have their answers, or the beginnings of them: what is imported
        meanwhile would take half of their time. Gives whether there were any."""
        paged = self._asked.is_set()
        now = asyncio.get_running_loop().time
        end = now() + PATIENCE
        while self._asked.is_set() and now() < end:
            self._asked.clear()
            await _until(self._idle, end - now())
            await _until(self._asked, QUIET)
        return paged

    def begun(self) -> None:
        """All of it is there."""
        self._begun.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._begun.is_set():
            await self._application(scope, receive, send)
        elif _gets(scope) and scope["path"] == self._health:
            await respond(send, 200, json.dumps(HEALTH), "application/json")
        elif _gets(scope) and (scope["path"].startswith(self._files) or _is_page(scope["headers"])):
            await self._page(scope, receive, send)
        else:
            await self._begun.wait()
            await self._application(scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        waits = True

        def answer() -> None:
            nonlocal waits
            if waits:
                waits = False
                self._unanswered -= 1
                if not self._unanswered:
                    self._idle.set()

        async def tell(message: Message) -> None:
            await send(message)
            answer()

        self._unanswered += 1
        self._asked.set()
        self._idle.clear()
        try:
            await self._loaded.wait()
            await self._application(scope, receive, tell)
        finally:
            answer()


async def _until(event: asyncio.Event, seconds: float) -> None:
    """For no longer than that. `wait_for` would now and then take a cancellation for its own."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("asked before it is loaded")


def _gets(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD")


def _is_page(headers: Headers) -> bool:
    """Whether a browser asks for a whole one (https://htmx.org/reference/#request_headers names what asks for
    a piece)."""
    given = dict(headers)
    return b"text/html" in given.get(b"accept", b"") and b"hx-request" not in given

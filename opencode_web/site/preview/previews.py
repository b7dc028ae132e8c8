"""Which web servers of a session's commands and terminals there are, and the previews of them that are open.

A preview has a port of its own, and with that an origin: what one keeps in a browser is not another's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import gettext

from agents.toolkit.sandbox import door
from agents.toolkit.sandbox.ports import NotThere
from opencode_web.site.logins import logins
from opencode_web.site.security.asgi import Application
from opencode_web.site.security.hosts import LOOPBACK_NAMES, is_loopback
from opencode_web.site.served import served
from sessions.core.bounded import Bounded
from sessions.core.models import Session
from sessions.core.platform.listeners import listeners
from sessions.core.platform.peers import commands, family
from sessions.terminals.registry import terminals

if TYPE_CHECKING:
    from opencode_web.site.preview.guard import PreviewGuard

MOST = 16
"""Previews at once; with one more the oldest ends."""
_FRESH = 2.0
"""Seconds for which it is remembered who listens."""


class NoPreview(Exception):
    """There can be none; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Found:
    """A port that can be previewed. `address` is where this process reaches it, with `reached`; both are
    empty for one in the sandbox to which there is no way yet."""

    port: int
    program: str = ""
    address: str = ""
    reached: int = 0
    sandboxed: bool = False


@dataclass(slots=True)
class Preview:
    """`port` is its own; `guard` lets in who has a ticket."""

    port: int
    guard: PreviewGuard
    end: Callable[[], None]


class Previews:
    """Those of one server; use it on the loop that serves. Where nothing is served there are none."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], Preview] = {}
        self._known: Bounded[str, tuple[float, list[Found]]] = Bounded(4 * MOST)
        self._looking = asyncio.Lock()

    def check(self, scheme: str, host: str, address: str) -> None:
        """Raises NoPreview for a page that did not come straight from this machine: `address` is where its
        request arrived. The preview's own port would not be reached from there, or by others too."""
        server = served()
        own = {f"{name}:{server.policy.port}" for name in LOOPBACK_NAMES} if server else set()
        if scheme != "http" or host.lower() not in own or not is_loopback(address):
            raise NoPreview(
                gettext(
                    "A preview is shown to a browser on the machine of the server alone, at its own port: "
                    "open the page at localhost there."
                )
            )

    async def found(self, session: Session, *, fresh: bool = False) -> list[Found]:
        """What listens for a session, by port."""
        asked = time.monotonic()
        async with self._looking:  # many ask at once, as a page loads
            at, known = self._known.get(session.id) or (0.0, [])
            if at < (asked if fresh else asked - _FRESH):
                leaders = {one.pid for one in terminals.of(Path(session.directory)) if one.exit_code is None}
                known = await asyncio.to_thread(_found, leaders, Path(session.directory))
                self._known[session.id] = time.monotonic(), known
        ports = door.ports(session.id)
        inside = [Found(one.number, "", "127.0.0.1" if one.way else "", one.way, True) for one in ports]
        return sorted([*known, *inside], key=lambda one: one.port)

    def of(self, session: Session, number: int) -> Preview | None:
        return self._open.get((session.id, number))

    async def open(self, session: Session, number: int, address: str) -> Preview:
        """The preview of what listens on a port, on a port of `address`. Raises NoPreview."""
        from opencode_web.site.preview.guard import PreviewGuard

        there = next((one for one in await self.found(session, fresh=True) if one.port == number), None)
        server = served()
        if there is None or server is None:
            raise NoPreview(gettext("Nothing of this session listens on port %(port)s.") % {"port": number})
        if there.sandboxed and not there.reached:
            try:
                await door.open_port(session.id, number)
            except NotThere as error:
                raise NoPreview(str(error)) from error
        if opened := self.of(session, number):
            return opened
        pages = server.policy.port
        made: list[PreviewGuard] = []

        def make(port: int) -> Application:
            made.append(PreviewGuard(port, pages, self._looks(session, number), logins))
            return made[0]

        port, end = server.listen(make, address)
        while len(self._open) >= MOST:
            await self._end(next(iter(self._open)))
        preview = self._open[session.id, number] = Preview(port, made[0], end)
        return preview

    async def close(self) -> None:
        for key in list(self._open):
            await self._end(key)

    def _looks(self, session: Session, number: int) -> Callable[[], Awaitable[tuple[str, int] | None]]:
        """Where what is previewed is now: another program may have its port by then."""

        async def look() -> tuple[str, int] | None:
            found = await self.found(session)
            there = (one for one in found if one.port == number and one.reached)
            return next(((one.address, one.reached) for one in there), None)

        return look

    async def _end(self, key: tuple[str, int]) -> None:
        preview = self._open.pop(key)
        preview.end()
        await preview.guard.close()


previews = Previews()


def _found(leaders: set[int], directory: Path) -> list[Found]:
    """Of the terminals with these leaders, and of the agent's commands that work in the folder. Blocks."""
    own = family(leaders)
    place = directory.resolve()
    theirs = [one for one in listeners(commands().members()) if one.folder.is_relative_to(place)]
    found = {one.port: one for one in [*theirs, *listeners(own)]}
    return [Found(one.port, one.program, one.address, one.port) for one in found.values()]

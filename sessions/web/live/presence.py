"""Who looks at a session and who writes in it, where a server has people: as long as their pages are
connected to this process. It is in no row: who is gone with a restart is back with their page."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from sessions.core import bus
from sessions.core.models import Session
from sessions.rendering.html import html

CHANGED = "session.presence"
"""The event, told to listeners alone."""
WRITES_SECONDS = 6.0
"""After the last word of a page that somebody writes there."""


class Presence:
    """Of one process; use it on the loop that serves."""

    def __init__(self) -> None:
        self._looking: defaultdict[str, list[str]] = defaultdict(list)
        self._writing: dict[tuple[str, str], asyncio.TimerHandle] = {}

    @contextmanager
    def looks(self, session: Session, name: str) -> Iterator[None]:
        """A page of somebody's is open meanwhile."""
        self._looking[session.id].append(name)
        self._tell(session)
        try:
            yield
        finally:
            self._looking[session.id].remove(name)
            if name not in self._looking[session.id]:
                self._rest(session, name)
            if not self._looking[session.id]:
                del self._looking[session.id]
            self._tell(session)

    def writes(self, session: Session, name: str) -> None:
        """Until nothing is heard of it for a while; where they have a page of the session open."""
        if name not in self._looking.get(session.id, ()):
            return
        known = self._writing.pop((session.id, name), None)
        if known is not None:
            known.cancel()
        later = asyncio.get_running_loop().call_later
        self._writing[session.id, name] = later(WRITES_SECONDS, self._stopped, session, name)
        if known is None:
            self._tell(session)

    def stops(self, session: Session, name: str) -> None:
        """They sent it, or took it back."""
        if self._rest(session, name):
            self._tell(session)

    def shown(self, session_id: str, but: str) -> str:
        """Those beside one, for their page."""
        names = sorted(set(self._looking.get(session_id, ())) - {but})
        people = [(name, (session_id, name) in self._writing) for name in names]
        return html("conversation/presence.html", people=people, oob=True)

    def _stopped(self, session: Session, name: str) -> None:
        self._writing.pop((session.id, name), None)
        self._tell(session)

    def _rest(self, session: Session, name: str) -> bool:
        timer = self._writing.pop((session.id, name), None)
        if timer is not None:
            timer.cancel()
        return timer is not None

    def _tell(self, session: Session) -> None:
        properties = {"sessionID": session.id}
        bus.publish(bus.Event(CHANGED, properties, project_id=session.project_id, session_id=session.id))


presence = Presence()

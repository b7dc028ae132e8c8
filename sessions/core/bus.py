"""Hints from the one writer to whoever listens: any thread to any loop.

Within the process; with a relay (`bus_redis`) also to the other processes.

Deltas of streaming text travel here and nowhere else; everything with a `seq` can also be read back
from the event log.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary, ref

from sessions.core.bounded import Bounded

from .ids import ascending
from .wire import ours


@dataclass(frozen=True)
class Event:
    """`type` and `properties` are the wire's; `seq` is the cursor in the log, None for what is not logged.

    `directory` is the folder that it concerns, for those of a session its own; empty: all of the project.
    `epoch` is that of the lease under which it happened, 0 for what needs none. `number` counts what changed
    in its session.
    """

    type: str
    properties: dict[str, Any]
    seq: int | None = None
    project_id: str = ""
    session_id: str = ""
    directory: str = ""
    epoch: int = 0
    number: int | None = None
    id: str = field(default_factory=lambda: ascending("evt"))

    @cached_property
    def json(self) -> str:
        """`{"id", "type", "properties"}`, encoded once however many clients listen."""
        return self._encoded(self.properties)

    @cached_property
    def plain_json(self) -> str:
        """The same without what is ours (`wire.ours`)."""
        plain = ours.event(self.type, self.properties)
        return self.json if plain is self.properties else self._encoded(plain)

    @cached_property
    def frame(self) -> bytes:
        """It as a server-sent event, with its cursor."""
        return self._framed(self.json)

    @cached_property
    def plain_frame(self) -> bytes:
        """The same without what is ours."""
        return self._framed(self.plain_json)

    def _framed(self, content: str) -> bytes:
        cursor = f"id: {self.seq}\n" if self.seq is not None else ""
        return f"{cursor}data: {content}\n\n".encode("utf-8", "replace")

    def _encoded(self, properties: dict[str, Any]) -> str:
        return json.dumps({"id": self.id, "type": self.type, "properties": properties}, ensure_ascii=False)


class Subscription:
    """A bounded mailbox of one listener; use as `async with bus.subscribe(...) as mailbox`.

    A listener that falls behind by more than `limit` events is cut off (`overflowed`): it must read
    the rows again, nothing is buffered without bound.
    """

    def __init__(
        self,
        project_id: str | None,
        session_id: str | None,
        limit: int,
        wants: Callable[[Event], bool] | None,
    ) -> None:
        self._project_id = project_id
        self._session_id = session_id
        self._wants = wants
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._bell = _Bell.of(self._loop)
        self._events: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._signalled = False
        self.overflowed = False

    async def __aenter__(self) -> Subscription:
        _change(self, listens=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        _change(self, listens=False)

    def offer(self, event: Event) -> None:
        """Called from any thread."""
        if not self._concerns(event):
            return
        if len(self._events) >= self._limit:
            self.overflowed = True
        else:
            self._events.append(event)
        self._signal()

    def miss(self, event: Event) -> None:
        """Called from any thread: an event came too late to be of use."""
        if self._concerns(event):
            self.cut_off()

    def _concerns(self, event: Event) -> bool:
        if self._project_id and event.project_id and event.project_id != self._project_id:
            return False
        if self._session_id and event.session_id and event.session_id != self._session_id:
            return False
        return self._wants is None or self._wants(event)

    def cut_off(self) -> None:
        """Called from any thread: this listener has missed something."""
        self.overflowed = True
        self._signal()

    def _signal(self) -> None:
        if not self._signalled:
            self._signalled = True
            self._bell.ring(self, self._loop)

    def wake(self) -> None:
        """Called from its loop: there is something to take."""
        self._wake.set()

    async def take(self, patience: float | None = None) -> list[Event]:
        """All that has come, at least one event; an empty list after `patience` seconds without any."""
        try:
            async with asyncio.timeout(patience):
                while not self._events and not self.overflowed:
                    self._wake.clear()
                    self._signalled = False
                    if not self._events and not self.overflowed:
                        await self._wake.wait()
        except TimeoutError:
            return []
        self._wake.clear()
        self._signalled = False
        events = []
        while self._events:
            events.append(self._events.popleft())
        return events


class _Bell:
    """Wakes the listeners of one loop, all of a moment by one call: a loop that is called from another thread
    is written to, and that for each of two hundred listeners would be most of what an event costs."""

    def __init__(self) -> None:
        self._due: deque[Subscription] = deque()
        self._rung = False

    @classmethod
    def of(cls, loop: asyncio.AbstractEventLoop) -> _Bell:
        """The one of a loop. Called from that loop."""
        return _bells.setdefault(loop, cls())

    def ring(self, listener: Subscription, loop: asyncio.AbstractEventLoop) -> None:
        """Called from any thread."""
        self._due.append(listener)
        if self._rung:
            return
        self._rung = True
        try:
            loop.call_soon_threadsafe(self._wake)
        except RuntimeError:  # the loop has closed: its listeners are going away
            self._rung = False
            while self._due:
                self._due.popleft().overflowed = True

    def _wake(self) -> None:
        self._rung = False  # first: who comes from here on rings again
        while self._due:
            self._due.popleft().wake()


_bells: WeakKeyDictionary[asyncio.AbstractEventLoop, _Bell] = WeakKeyDictionary()
REMEMBERED = 4096
_epochs: Bounded[str, int] = Bounded(REMEMBERED)
"""By session the newest epoch heard of, the last that was new to us last."""
_lock = threading.Lock()
_subscriptions: tuple[ref[Subscription], ...] = ()
"""Weak: nobody listens any more at one that was lost on its way to who would have. Never changed but made
anew, so that who tells them needs no lock."""
_relay: Callable[[Event], None] | None = None


def subscribe(
    *,
    project: str | None = None,
    session: str | None = None,
    wants: Callable[[Event], bool] | None = None,
    limit: int = 10_000,
) -> Subscription:
    """Listen to one session, one project, or everything, less what `wants` (called from any thread) refuses.

    Call it from the loop that will listen.
    """
    return Subscription(project, session, limit, wants)


def publish(event: Event) -> None:
    """Hand an event to every listener it concerns, wherever it is; never blocks, never raises."""
    deliver(event)
    if _relay is not None:
        _relay(event)


def deliver(event: Event) -> None:
    """Hand an event to the listeners of this process.

    Not one of a lease that another has taken since: it tells of what is no more. One that was logged before
    that, and only came late, may be the last word on something, so listeners read the rows again.
    """
    if event.epoch and not _is_newest(event):
        if event.seq is not None:
            for listener in _listeners():
                listener.miss(event)
        return
    for listener in _listeners():
        listener.offer(event)


def _is_newest(event: Event) -> bool:
    if _epochs.get(event.session_id) == event.epoch:
        return True
    with _lock:
        known = _epochs.get(event.session_id, 0)
        _epochs[event.session_id] = max(known, event.epoch)
    return event.epoch >= known


def cut_off() -> None:
    """Tell every listener of this process that it may have missed events and must read the rows."""
    for listener in _listeners():
        listener.cut_off()


def relay(function: Callable[[Event], None] | None) -> None:
    """Set what takes published events to other processes; it must neither block nor raise. None: nothing."""
    global _relay
    _relay = function


def is_relayed() -> bool:
    """Whether events of other processes come here too, in an order that need not be that of the log."""
    return _relay is not None


def _listeners() -> list[Subscription]:
    return [listener for found in _subscriptions if (listener := found()) is not None]


def _change(subscription: Subscription, *, listens: bool) -> None:
    global _subscriptions
    with _lock:
        others = tuple(found for found in _subscriptions if found() not in (None, subscription))
        _subscriptions = (*others, ref(subscription)) if listens else others

"""Linux's inotify(7) through ctypes: events of folders, read without waiting."""

from __future__ import annotations

import array
import ctypes
import fcntl
import itertools
import os
import struct
import sys
import termios
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

_MODIFY, ATTRIBUTES, _CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF = 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
FOLDER = 0x40000000
APPEARED = _CREATE | _MOVED_TO
_ONLY_FOLDERS, _NO_LINKS, _NOT_UNLINKED = 0x1000000, 0x2000000, 0x4000000
_WATCHED = (
    _MODIFY | ATTRIBUTES | _CLOSE_WRITE | MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | DELETE_SELF | MOVE_SELF
)
IDLE_SECONDS = 900.0
_MOST_EVENTS = 16_384
_HEAD = struct.Struct("iIII")  # wd, mask, cookie, length of the name with its padding


@dataclass(frozen=True, slots=True)
class Event:
    """`mask` is one or more of the constants above; `name` is empty for the watched folder itself."""

    watch: int
    mask: int
    name: str


_LOST = Event(-1, OVERFLOW, "")


class _Queue:
    """The one instance of this process, there while somebody holds a share of it: a user may have 128 of them
    over all programs. For all threads.

    Events are dealt out to the shares as they are read; one that is not asked for its events keeps at most as
    many as the kernel would.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = -1
        self._shares: dict[int, _Share] = {}
        self._holders: dict[int, set[int]] = {}
        self._gone: deque[int] = deque()
        self._keeper: threading.Thread | None = None

    def join(self, number: int) -> None:
        """Raises OSError where there is no instance to be had."""
        with self._locked():
            self._open()
            self._shares[number] = _Share()
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._keep, name="inotify", daemon=True)
                self._keeper.start()

    def leave(self, number: int) -> None:
        """Take a share back. Whatever thread collects garbage calls it, so it may not wait for the lock: who
        holds that sees to it."""
        self._gone.append(number)
        self._clean()

    def add(self, number: int, folder: str) -> int:
        path = ctypes.c_char_p(os.fsencode(folder))
        with self._locked():
            self._open()
            mask = ctypes.c_uint32(_WATCHED | _ONLY_FOLDERS | _NO_LINKS | _NOT_UNLINKED)
            watch = _checked(_libc().inotify_add_watch(self._descriptor, path, mask))
            self._holders.setdefault(watch, set()).add(number)
            self._shares[number].watches.add(watch)
            return watch

    def remove(self, number: int, watch: int) -> None:
        with self._locked():
            self._remove(number, watch)

    def read(self, number: int) -> list[Event]:
        with self._locked():
            share = self._shares[number]
            share.read_at = time.monotonic()
            if share.watches:
                self._deal()
            events, share.events = share.events, []
            return events

    def release(self, idle: float) -> None:
        """Take the watches of the shares that were not asked for so many seconds; they learn that they lost
        track when they are."""
        with self._locked():
            before = time.monotonic() - idle
            for number, share in self._shares.items():
                if share.read_at <= before and share.watches:
                    self._empty(number)
                    share.events = [_LOST]
            if not self._holders:
                self._close()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            yield
        self._clean()

    def _clean(self) -> None:
        while self._gone and self._lock.acquire(blocking=False):
            try:
                while self._gone:
                    self._empty(number := self._gone.popleft())
                    del self._shares[number]
                if not self._holders:
                    self._close()
            finally:
                self._lock.release()

    def _open(self) -> None:
        if self._descriptor < 0:
            self._descriptor = _checked(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._holders.clear()

    def _empty(self, number: int) -> None:
        if self._shares.keys() == {number}:
            self._holders.clear()  # the end of the instance is the end of all watches
            self._shares[number].watches.clear()
            return
        for at, watch in enumerate(list(self._shares[number].watches)):
            self._remove(number, watch)
            if at % _MOST_EVENTS == 0:
                self._deal()  # each tells of its end, and the kernel's queue is bounded

    def _remove(self, number: int, watch: int) -> None:
        self._shares[number].watches.discard(watch)
        holders = self._holders.get(watch, set())
        holders.discard(number)
        if not holders and self._holders.pop(watch, None) is not None:
            _libc().inotify_rm_watch(self._descriptor, watch)

    def _deal(self) -> None:
        """Read what is in the queue at this moment. What comes while it is read is left for the next time, so
        a busy writer cannot keep us here."""
        waiting = array.array("i", [0])
        fcntl.ioctl(self._descriptor, termios.FIONREAD, waiting)
        left = waiting[0]
        while left > 0:
            buffer = os.read(self._descriptor, max(left, _HEAD.size + 256))
            left -= len(buffer)
            for event in _events(buffer):
                lost = event.mask & OVERFLOW
                for number in self._shares if lost else self._holders.get(event.watch, ()):
                    self._shares[number].take(event)
                if event.mask & IGNORED:
                    for number in self._holders.pop(event.watch, ()):
                        self._shares[number].watches.discard(event.watch)

    def _keep(self) -> None:
        pause = threading.Event()
        while not pause.wait(IDLE_SECONDS / 10):
            self.release(IDLE_SECONDS)


@dataclass(slots=True)
class _Share:
    events: list[Event] = field(default_factory=list)
    watches: set[int] = field(default_factory=set)
    read_at: float = field(default_factory=time.monotonic)

    def take(self, event: Event) -> None:
        if self.events[:1] == [_LOST]:
            return
        if len(self.events) < _MOST_EVENTS:
            self.events.append(event)
        else:
            self.events = [_LOST]


class Inotify:
    """A share of the process's one queue of events; given back when nobody holds it. Raises OSError where
    there is none to be had.

    One that is not read for 15 minutes loses its watches, and tells so by an event that says OVERFLOW.
    """

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError("inotify is Linux's")
        self._number = next(_numbers)
        _queue.join(self._number)
        self.close = weakref.finalize(self, _queue.leave, self._number)

    def add(self, folder: str) -> int:
        """Watch what happens in one folder, not below it; the same folder has the same number."""
        return _queue.add(self._number, folder)

    def remove(self, watch: int) -> None:
        """Watch a folder no longer; one that is gone already is no error."""
        _queue.remove(self._number, watch)

    def read(self) -> list[Event]:
        """What has happened until this moment, since the last call."""
        return _queue.read(self._number)


def release_idle(seconds: float = 0.0) -> None:
    """Give back the watches that nobody asked for so long; and the instance, when that were all."""
    _queue.release(seconds)


def _events(buffer: bytes) -> Iterator[Event]:
    at = 0
    while at < len(buffer):
        watch, mask, _, length = _HEAD.unpack_from(buffer, at)
        at += _HEAD.size
        name = buffer[at : at + length].rstrip(b"\0")
        at += length
        yield Event(watch, mask, os.fsdecode(name))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


_numbers = itertools.count()
_queue = _Queue()

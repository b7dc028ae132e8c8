"""Linux's inotify(7) through ctypes: events of folders, read without waiting."""

from __future__ import annotations

import array
import ctypes
import fcntl
import os
import struct
import sys
import termios
import weakref
from collections.abc import Iterator
from dataclasses import dataclass

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
_HEAD = struct.Struct("iIII")  # wd, mask, cookie, length of the name with its padding


@dataclass(frozen=True, slots=True)
class Event:
    """`mask` is one or more of the constants above; `name` is empty for the watched folder itself."""

    watch: int
    mask: int
    name: str


class Inotify:
    """One queue of events; closed when nobody holds it. Raises OSError where there is none to be had."""

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError("inotify is Linux's")
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = _checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self.close = weakref.finalize(self, os.close, self._descriptor)

    def add(self, folder: str) -> int:
        """Watch what happens in one folder, not below it; the same folder has the same number."""
        mask = _WATCHED | _ONLY_FOLDERS | _NO_LINKS | _NOT_UNLINKED
        path = ctypes.c_char_p(os.fsencode(folder))
        return _checked(self._libc.inotify_add_watch(self._descriptor, path, ctypes.c_uint32(mask)))

    def remove(self, watch: int) -> None:
        """Watch a folder no longer; one that is gone already is no error."""
        self._libc.inotify_rm_watch(self._descriptor, watch)

    def read(self) -> Iterator[Event]:
        """What is in the queue at this moment. What comes while it is read is left for the next time, so
        a busy writer cannot keep us here."""
        waiting = array.array("i", [0])
        fcntl.ioctl(self._descriptor, termios.FIONREAD, waiting)
        left = waiting[0]
        while left > 0:
            buffer = os.read(self._descriptor, max(left, _HEAD.size + 256))
            left -= len(buffer)
            yield from _events(buffer)


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

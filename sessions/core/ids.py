"""Ids with an embedded time: prefix, 6 bytes of time and counter in hex, 14 random base62.

Ascending ids sort oldest first (messages, parts); descending ids sort newest first (sessions). The six
bytes begin again every 795 days (2026-08-14, 2028-10-17): what is added to an older conversation names what
it follows.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time

_ALPHABET = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))
"""By a random byte: one question to the kernel for an id, and not one for each of its digits."""
_MASK = (1 << 48) - 1
_TIME = re.compile(r"[a-z]+_([0-9a-f]{12})")
_lock = threading.Lock()
_last = 0
_lifted = 0


def _tick() -> int:
    """Milliseconds × 4096 plus a counter; strictly rising within the process."""
    global _last
    with _lock:
        _last = max(_last + 1, (time.time_ns() // 1_000_000) << 12)
        return _last


def _make(prefix: str, tick: int) -> str:
    tail = os.urandom(14).translate(_DIGITS).decode()
    return f"{prefix}_{tick & _MASK:012x}{tail}"


def ascending(prefix: str, after: str = "") -> str:
    """A new id that sorts after every earlier one of this process, e.g. `ascending("msg")`, and after an id
    of the same kind from before the six bytes began again, or of a clock that was ahead."""
    made = _make(prefix, _tick())
    time = _TIME.match(after) if made <= after else None
    return _make(prefix, _above(int(time[1], 16))) if time else made


def _above(tick: int) -> int:
    """Strictly rising too: several ids may follow the same one."""
    global _lifted
    with _lock:
        _lifted = max(_lifted, tick) + 1
        return _lifted


def descending(prefix: str) -> str:
    """A new id that sorts before every earlier one of this process, e.g. `descending("ses")`."""
    return _make(prefix, ~_tick())


def now() -> int:
    """The time on the wire: milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def of_log(time: int, seq: int) -> str:
    """The id of an event by its time (ms) and its place in the log: the same whenever it is told."""
    return f"evt_{(time << 12) & _MASK:012x}{seq:014d}"


def of_folder(worktree: str, number: int = 0) -> str:
    """The id of a project by its folder; `number` counts the ids of that folder which others have."""
    name = os.fsencode(worktree) + (b"\0%d" % number if number else b"")
    return hashlib.sha1(name, usedforsecurity=False).hexdigest()

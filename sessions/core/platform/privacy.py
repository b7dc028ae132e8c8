"""Keeps what this process knows from other programs of the same user (docs/decisions/0024-out-of-reach.md).

Linux: the process is not dumpable, so that its memory, environment and files in /proc belong to root and no
debugger of the user attaches (prctl(2), PR_SET_DUMPABLE). Linux and macOS: the values of named variables are
wiped from the block that the kernel handed over, which `ps` and /proc show; `os.environ` keeps them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from sessions.core import variables

SECRETS = tuple(each.name for each in variables.every() if each.own and each.secret)
"""Variables of this program's own that hold secrets. The keys of providers are not among them: they are the
user's, and the programs that the user and the agent run are given them."""

_PR_SET_DUMPABLE = 4


def withdraw(names: Iterable[str] = SECRETS, arguments: Iterable[str] = ()) -> None:
    """Call it first of all. `arguments` are secrets that were given on the command line; on Linux they are
    wiped, too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        for argument in filter(None, arguments):
            _wipe_argument(os.fsencode(argument))
    try:
        block = list(_block())
    except (AttributeError, ValueError):  # a C library that does not tell
        return
    for name in names:
        _wipe_variable(name, block)


def _wipe_variable(name: str, block: list[tuple[int, bytes]]) -> None:
    prefix = os.fsencode(name) + b"="
    there = [(address, entry) for address, entry in block if entry.startswith(prefix)]
    for address, entry in there:
        ctypes.memset(address + len(prefix), 0, len(entry) - len(prefix))
    if there and name in os.environ:
        os.environ[name] = os.environ[name]  # a copy of its own for what reads it in C, as before


def _wipe_argument(secret: bytes) -> None:
    """Where the arguments lie is the 48th field of proc_pid_stat(5), `arg_start`."""
    try:
        given = Path("/proc/self/cmdline").read_bytes()
        start = int(Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[45])
    except (OSError, ValueError, IndexError):
        return
    place = given.find(secret + b"\0")
    while start and place >= 0:
        ctypes.memset(start + place, ord("*"), len(secret))
        place = given.find(secret + b"\0", place + len(secret))


def _block() -> Iterator[tuple[int, bytes]]:
    """(address, NAME=value) of each variable, as the C library has them: environ(7)."""
    library = ctypes.CDLL(None)
    kind = ctypes.POINTER(ctypes.c_void_p)
    if sys.platform == "darwin":
        library._NSGetEnviron.restype = ctypes.POINTER(kind)
        entries = library._NSGetEnviron().contents
    else:
        entries = kind.in_dll(library, "environ")
    place = 0
    while entries and (address := entries[place]):
        yield address, ctypes.string_at(address)
        place += 1

"""Where a confined program wanted to write and the sandbox did not let it.

All that is read-only in a sandbox is so by its mounts, and only a write on those fails with EROFS. So a line
that has the words of this error is looked through for a path, and it counts where the policy forbids it.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path

from agents.toolkit.sandbox.policy import Policy

MOST = 5
"""Paths that are told."""
MOST_HEARD = 16 * 1024
_OWN = tuple(map(Path, ("/tmp", "/var/tmp", "/dev")))  # noqa: S108 (each sandbox has its own)
_SAID = re.compile(re.escape(os.strerror(errno.EROFS)) + r"|\bEROFS\b", re.IGNORECASE)
_QUOTES = "'\"`\u2018\u2019\u201c\u201d"  # coreutils take round ones
_PATH = re.compile(rf"[{_QUOTES}]([^{_QUOTES}\n]{{1,500}})[{_QUOTES}]|([^\s{_QUOTES}:,;()\[\]]+)")


class Heard:
    """What a program said last, on its way to who listens."""

    def __init__(self, on_output: Callable[[bytes], Awaitable[None]]) -> None:
        self._on_output = on_output
        self._last = b""

    async def take(self, chunk: bytes) -> None:
        self._last = (self._last + chunk)[-MOST_HEARD:]
        await self._on_output(chunk)

    def refused(self, cwd: Path, around: Policy) -> tuple[str, ...]:
        """Where it was not let write. Blocks."""
        return tuple(refused(self._last.decode("utf-8", "replace"), cwd, around))


def refused(said: str, cwd: Path, around: Policy) -> list[str]:
    """The paths, as they were said. Blocks."""
    lines = (line for line in said.splitlines() if _SAID.search(line))
    found = (name for line in lines for name in _named(line, cwd, around))
    return list(dict.fromkeys(found))[:MOST]


def _named(line: str, cwd: Path, around: Policy) -> Iterator[str]:
    for quoted, plain in _PATH.findall(_SAID.sub(" ", line)):
        name = quoted or plain
        path = Path(os.path.normpath(cwd / os.path.expanduser(name)))
        # A word is a path where something is there, or could be made there.
        if (path.exists() or "/" in name) and path.parent.is_dir() and not _is_open(path, around):
            yield name


def _is_open(path: Path, around: Policy) -> bool:
    """Whether the policy lets it be written."""
    if _is_in(path, around.held):
        return False
    if _is_in(path, (*around.workspace, *around.caches)):
        return True
    return _is_in(path, (around.temporary, *_OWN)) and not _is_in(path, around.shown)


def _is_in(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)

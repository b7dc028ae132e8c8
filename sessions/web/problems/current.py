"""The problems that a project's files have as they are now: what was said of exactly what they hold."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.files import UnsafePath, read_file
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.platform.stamps import Stamp, stamp
from sessions.core.store import problems
from sessions.core.store.problems import Place, Problem
from sessions.web.problems.matching import how_many

MOST_CONTENTS = 2000
"""Contents with problems that files are compared with."""
LARGEST = 4 * 1024 * 1024
"""Bytes of a file that is read for it."""


@dataclass(frozen=True, slots=True)
class FileNow:
    """A file with problems, in the order of its lines. `path` is relative to the worktree."""

    path: str
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> int:
        return how_many(self.problems)[0]

    @property
    def warnings(self) -> int:
        return how_many(self.problems)[1]


async def current(project: Project, servers: Collection[str]) -> list[FileNow]:
    """By path; of these servers alone, as others are no longer asked."""
    suspected = await in_db(problems.suspects, project.id, MOST_CONTENTS)
    held = await asyncio.to_thread(_held, Path(project.worktree), suspected)
    known = await in_db(problems.of_contents, project.id, held, standing=True)
    found = []
    for (path, _), said in sorted(known.items()):
        every = sorted(one for server, own in said.items() if server in servers for one in own)
        if every:
            found.append(FileNow(path, tuple(every)))
    return found


def content_now(worktree: Path, path: str) -> bytes | None:
    """What a file holds; None for none, and for what is no plain file or too large. Blocks."""
    try:
        if (worktree / path).lstat().st_size > LARGEST:
            return None
        state = read_file(worktree, path)
    except (OSError, UnsafePath, ValueError):
        return None
    return state.content if state else None


def _held(worktree: Path, suspected: Iterable[Place]) -> set[Place]:
    """Those that are what their file holds."""
    addresses: dict[str, str] = {}
    for path, _ in suspected:
        if path not in addresses:
            addresses[path] = _address_now(worktree, path)
    return {(path, content) for path, content in suspected if addresses[path] == content}


def _address_now(worktree: Path, path: str) -> str:
    """Empty for none."""
    now = stamp(worktree / path, follow=False)
    return _address(worktree, path, now) if now else ""


@lru_cache(maxsize=8192)
def _address(worktree: Path, path: str, now: Stamp) -> str:
    """Read once for each state of the file."""
    content = content_now(worktree, path)
    return "" if content is None else object_id(content)

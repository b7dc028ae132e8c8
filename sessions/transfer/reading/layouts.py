"""Where OpenCode's file storage keeps what.

The first form had one storage a project, below `project/<name>/storage`; migration 0 made one of them all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Layout:
    """`root` is a folder with `session`, `message` and `part`, or with all of that below `session`."""

    root: Path
    by_project: bool

    def sessions(self) -> Iterator[Path]:
        yield from sorted(self.root.glob("session/*/*.json" if self.by_project else "session/info/*.json"))

    def messages(self, session: str) -> Path:
        return self._below("message") / session

    def parts(self, session: str, message: str) -> Path:
        """The folder of a message's parts."""
        return self._below("part") / message if self.by_project else self._below("part") / session / message

    def diffs(self, session: str) -> Path:
        return self.root / "session_diff" / f"{session}.json"

    def todos(self, session: str) -> Path:
        return self.root / "todo" / f"{session}.json"

    def projects(self) -> Iterator[Path]:
        yield from self.root.glob("project/*.json")

    def conversations(self) -> Iterator[Path]:
        """The folders of messages, one a session."""
        yield from _folders(self._below("message"))

    def answers(self) -> Iterator[Path]:
        """The folders of parts, one a message."""
        for folder in _folders(self._below("part")):
            yield from [folder] if self.by_project else _folders(folder)

    def _below(self, name: str) -> Path:
        return self.root / name if self.by_project else self.root / "session" / name


def layouts(data: Path) -> list[Layout]:
    """Those in a folder: OpenCode's data folder, or the `storage` in it."""
    storage = data if (data / "session").is_dir() else data / "storage"
    found = [Layout(storage, True)] if (storage / "session").is_dir() else []
    older = (path / "storage" for path in sorted((data / "project").glob("*")))
    return found + [Layout(root, False) for root in older if (root / "session" / "info").is_dir()]


def objects_of(data: Path, project: str) -> tuple[Path, ...]:
    """The folders of git objects in which OpenCode's data folder has the snapshots of a project: in one
    repository, or in one for each worktree."""
    if os.path.basename(project) != project or project in ("", ".", ".."):
        return ()
    place = data / "snapshot" / project
    return tuple(path for path in (place / "objects", *place.glob("*/objects")) if path.is_dir())


def _folders(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (entry for entry in path.iterdir() if entry.is_dir())

"""The folders beside the project that an agent may read, or write: those that a person added to the session,
and those that the configuration names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.config.schema import Config
from sessions.core.models import Session
from sessions.core.store.added_folders import (
    AddedFolder,
    Refused,
    checked,
    named,
    of,
    require_apart,
)


@dataclass(frozen=True, slots=True)
class Folders:
    """`refused` says of what the configuration names and cannot be added why, in words for people."""

    added: Sequence[AddedFolder]
    configured: Sequence[AddedFolder]
    refused: Sequence[str]

    @property
    def every(self) -> tuple[AddedFolder, ...]:
        return (*self.added, *self.configured)


def folders_of(session: Session | None, config: Config, directory: Path, worktree: Path) -> Folders:
    """Those of a session, or of a new one, in `directory` of the project at `worktree`. Blocks."""
    added = of(session) if session else ()
    configured: list[AddedFolder] = []
    refused: list[str] = []
    for given in config.folders:
        known = (*added, *configured)
        named_path, write = (given, False) if isinstance(given, str) else (given.path, given.write)
        try:
            path = checked(named_path, directory, worktree, write=write)
            if write:
                require_apart(path, known)
        except Refused as problem:
            refused.append(str(problem))
            continue
        if all(folder.path != path for folder in known):
            configured.append(named(path, directory, known, write=write))
    return Folders(added, configured, refused)


def located(folders: Sequence[AddedFolder], directory: Path, path: Path) -> Path:
    """The path, or where it leads in the folder by whose name it begins, unless there is something of that
    name in the directory. Blocks."""
    first = path.parts[0] if path.parts else ""
    folder = next((folder for folder in folders if folder.name == first), None)
    if folder is None or os.path.lexists(directory / first):
        return path
    return folder.path.joinpath(*path.parts[1:])


def is_read_only(folder: AddedFolder, title: str) -> str:
    """What a tool says that was to write in it."""
    return (
        f"{title} is in {folder.name} ({folder.path}), a folder that was added for reading only: no tool "
        "writes there. Say what should change in it, and let the person decide."
    )

"""Where skills are looked for, nearest first: a nearer one of the same name wins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from django.conf import settings

from sessions.repository import Repository

_PROJECT = (".opencode/skills", ".opencode/skill", ".claude/skills", ".agents/skills")
_OWN = ("skills", "skill")
_HOME = (".claude/skills", ".agents/skills")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder to search. Links in it must not lead out of `within`; None for the user's own folders.

    `named` says that a configuration names it, so that it has to exist.
    """

    folder: Path
    within: Path | None = None
    named: bool = False


def places(directory: Path, named: list[str], environ: Mapping[str, str] = os.environ) -> list[Place]:
    """The project's, from `directory` up to its root, those that the configuration names, the user's own.

    `OPENCODE_DISABLE_PROJECT_CONFIG` leaves the project's out.
    """
    try:
        here, worktree = directory.resolve(strict=True), Repository.of(directory).worktree
    except OSError:
        return []
    disabled = environ.get("OPENCODE_DISABLE_PROJECT_CONFIG", "").lower() in ("1", "true")
    found: dict[Path, Place] = {}
    project = () if disabled else _of_project(here, worktree)
    for place in chain(project, _of_config(here, worktree, named), _of_user()):
        found.setdefault(place.folder, place)
    return list(found.values())


def _of_project(here: Path, worktree: Path) -> Iterator[Place]:
    for folder in (here, *here.parents):
        if not folder.is_relative_to(worktree):
            break
        yield from (Place(folder / name, within=worktree) for name in _PROJECT)


def _of_config(here: Path, worktree: Path, named: list[str]) -> Iterator[Place]:
    """Relative to the session's folder, or else to the root of the project."""
    for name in named:
        given = Path(name).expanduser() if name.startswith("~") else here / name
        if not given.exists():
            given = worktree / name
        folder = Path(os.path.normpath(given))
        yield Place(folder, within=worktree if folder.is_relative_to(worktree) else None, named=True)


def _of_user() -> Iterator[Place]:
    yield from (Place(Path(settings.CONFIG_DIR) / name) for name in _OWN)
    yield from (Place(Path.home() / name) for name in _HOME)

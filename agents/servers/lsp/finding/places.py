"""Where programs lie: the user's, ours, the project's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from agents.servers.lsp.matrix.row import Package, Row

READY = "installed.json"
"""In the folder of a server that was installed whole."""
_OF_PROJECT = ("node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin")
_OF_USER = ("go/bin", ".cargo/bin", ".local/bin", ".dotnet/tools", ".opam/default/bin", ".ghcup/bin")
"""Where the tools of languages install programs, below the home folder; not always on PATH."""


def on_path(name: str, worktree: Path) -> Path | None:
    """Not what lies in the project, though PATH may lead there."""
    found = shutil.which(name, path=_outside(os.environ.get("PATH", os.defpath), Path.home(), worktree))
    return Path(found) if found and not is_within(Path(found), worktree) else None


@lru_cache(maxsize=16)
def _outside(path: str, home: Path, worktree: Path) -> str:
    """The folders of PATH, and of the user's tools, that are not of the project. What is found in them is
    looked at itself, each time."""
    places = [*map(Path, path.split(os.pathsep)), *(home / folder for folder in _OF_USER)]
    outside = (place for place in places if place.is_absolute() and not is_within(place, worktree))
    return os.pathsep.join(map(str, outside))


def folder_of(row: Row) -> Path:
    """Where we install a server."""
    return Path(settings.SERVER_DIR) / row.id.replace(" ", "-")


def programs_of(row: Row) -> Path:
    """The folder with the programs that we installed for a row."""
    pypi = isinstance(row.install, Package) and row.install.registry == "pypi"
    return folder_of(row) / ("venv/bin" if pypi else "node_modules/.bin")


def is_ready(row: Row) -> bool:
    return (folder_of(row) / READY).exists()


def in_project(name: str, root: Path, worktree: Path) -> Path | None:
    """The nearest to the root."""
    programs = (folder / place / name for folder in upward(root, worktree) for place in _OF_PROJECT)
    return next((program for program in programs if is_executable(program)), None)


def upward(root: Path, worktree: Path) -> Iterator[Path]:
    """The folders from a root to the worktree."""
    yield from (folder for folder in (root, *root.parents) if folder.is_relative_to(worktree))


def is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def is_within(path: Path, worktree: Path) -> bool:
    """Whether something belongs to the project, by its name or by what it is a link to; what we installed
    never does."""
    ours = Path(settings.SERVER_DIR)
    return any(
        one.is_relative_to(worktree) and not one.is_relative_to(ours) for one in (path, _resolved(path))
    )


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path

"""Which file a person's change of the configuration goes into."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from agents.config.loader import DISABLED, is_disabled
from agents.config.problem import Refused
from sessions.core import paths
from sessions.core.repository import Repository

_NAMES = ("opencode.jsonc", "opencode.json")
"""The nearest first: what is read last counts."""


class Target(NamedTuple):
    """A configuration file by the name it is found by, and the file that is written: links followed."""

    file: Path
    real: Path


def target(directory: Path | None, environ: Mapping[str, str]) -> Target:
    """The nearest file of a folder, or of the user's own for None; where there is none, a new one.

    Raises Refused for a project's link out of the project, and where a project's files do not count.
    """
    if directory is None:
        folder = paths.config_directory(environ)
        found = [folder / name for name in (*_NAMES, "config.json")]
        file = next(filter(os.path.lexists, found), found[0])
        return Target(file, _real(file))
    if is_disabled(environ):
        raise Refused(f"{DISABLED} is set: files of a project do not count.")
    there = (file for file in _of_project(directory) if os.path.lexists(file))
    file = next(there, directory / "opencode.json")
    real = _real(file)
    if not real.is_relative_to(Repository.of(directory).worktree.resolve()):
        raise Refused(f"{file} leads out of the project; it is not written.")
    return Target(file, real)


def _real(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError) as error:
        raise Refused(f"{file} is a link that leads nowhere.") from error


def _of_project(directory: Path) -> Iterator[Path]:
    for folder in (directory / ".opencode", directory):
        yield from (folder / name for name in _NAMES)

"""The configuration of a directory: every source read, merged and checked, cached until one changes.

Order and names: issue 2, "Configuration"; OpenCode's documentation of `opencode.json`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.config import Config
from opencode_web.config import sources
from opencode_web.config.check import check
from opencode_web.config.merge import merge
from opencode_web.config.problem import Problem
from opencode_web.config.reader import Reading, read_file, read_text

logger = logging.getLogger(__name__)

_CONTENT = "OPENCODE_CONFIG_CONTENT"
_CACHED = 64

Stamp = tuple[int, int] | None
"""Modification time in nanoseconds and size; None where there is no file."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """`sources` are the files that were read, farthest first; `config` is shared and not to be changed."""

    config: Config
    problems: list[Problem]
    sources: list[Path]


@dataclass(frozen=True, slots=True)
class _Entry:
    loaded: Loaded
    stamps: dict[Path, Stamp]
    variables: dict[str, str | None]


_cache: dict[tuple[Path | None, tuple[Path, ...]], _Entry] = {}


def load(directory: Path | None, environ: Mapping[str, str] = os.environ) -> Loaded:
    """The configuration in force in `directory` (absolute), or the user's own alone for None.

    Never raises for what a file says: what is wrong is in `problems`, and the rest counts. Unchanged
    files are not read again.
    """
    files = sources.user_files(environ)
    if directory is not None:
        files += sources.project_files(directory, environ)
    key = (directory, tuple(files))
    entry = _cache.get(key)
    if entry is None or not _is_current(entry, environ):
        entry = _read(directory, files, environ)
        while len(_cache) >= _CACHED:
            _cache.pop(next(iter(_cache)), None)
        _cache[key] = entry
        for problem in entry.loaded.problems:
            logger.log(logging.ERROR if problem.level == "error" else logging.WARNING, "%s", problem)
    return entry.loaded


def _is_current(entry: _Entry, environ: Mapping[str, str]) -> bool:
    if any(environ.get(name) != value for name, value in entry.variables.items()):
        return False
    return all(_stamp(file) == stamp for file, stamp in entry.stamps.items())


def _stamp(file: Path) -> Stamp:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _read(directory: Path | None, files: list[Path], environ: Mapping[str, str]) -> _Entry:
    # Stamped before reading: a file that changes meanwhile is read again at the next call.
    stamps = {file: _stamp(file) for file in files}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    names = {_CONTENT}
    read: list[Path] = []
    for file, reading in _readings(directory, files, stamps, environ):
        values = merge(values, reading.values)
        problems += reading.problems
        names |= reading.names
        stamps |= {included: _stamp(included) for included in reading.files}
        read.append(file)
    loaded = Loaded(check(values)[0], problems, read)
    return _Entry(loaded, stamps, {name: environ.get(name) for name in names})


def _readings(
    directory: Path | None, files: list[Path], stamps: dict[Path, Stamp], environ: Mapping[str, str]
) -> Iterator[tuple[Path, Reading]]:
    named = sources.named_file(environ)
    for file in files:
        if stamps[file] is not None:
            yield file, read_file(file, environ)
        elif file == named:
            missing = Problem(file, None, "", "the file named by OPENCODE_CONFIG does not exist")
            yield file, Reading(problems=[missing])
    content = environ.get(_CONTENT)
    if content:
        yield Path(_CONTENT), read_text(content, Path(_CONTENT), directory or Path.cwd(), environ)

"""Where a language server's program is: on PATH, in our own folder, or in the project. Reads the disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.servers.lsp.matrix.row import TSDK, TSSERVER, Package, Row
from sessions.core.platform import search_path
from sessions.core.sentences import Sentence

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


def find(row: Row, root: Path, worktree: Path) -> Found | Missing:
    """How to start a server in a root: from PATH, from our own folder, else from the project."""
    if row.own_command:
        return _configured(row, root, worktree)
    command = next(_commands(row, root, worktree), None)
    if command is None:
        return Missing(Sentence("%(program)s was not found.", program=row.commands[0][0]))
    return _complete(row, command, root, worktree)


def installed(row: Row) -> Found | Missing:
    """What is in our own folder for a server, whether it is known to work or not."""
    for name, *rest in row.commands:
        program = programs_of(row) / name
        if is_executable(program):
            nowhere = programs_of(row)
            return _complete(row, (str(program), *rest), nowhere, nowhere)
    return Missing(Sentence("The package has no program %(program)s.", program=row.commands[0][0]))


def _commands(row: Row, root: Path, worktree: Path) -> Iterator[tuple[str, ...]]:
    for name, *rest in row.commands:
        if program := on_path(name, worktree):
            yield str(program), *rest
    for name, *rest in row.commands:
        if is_ready(row) and is_executable(programs_of(row) / name):
            yield str(programs_of(row) / name), *rest
    for name, *rest in row.commands:
        if program := in_project(name, root, worktree):
            yield str(program), *rest


def _configured(row: Row, root: Path, worktree: Path) -> Found | Missing:
    """A command of the configuration. One that is given by a path is meant from the worktree."""
    name, *rest = row.commands[0]
    given = Path(name).expanduser()
    by_path = worktree / given if len(given.parts) > 1 else None
    named = shutil.which(name, path=search_path.configured())
    found = str(by_path) if by_path and is_executable(by_path) else named
    if found is None:
        return Missing(Sentence("%(name)s, which the configuration names, was not found.", name=name))
    return _complete(row, (found, *rest), root, worktree)


def _complete(row: Row, argv: tuple[str, ...], root: Path, worktree: Path) -> Found | Missing:
    """With the TypeScript that the server is told of, and with what of the project would run."""
    program = Path(argv[0])
    code = [program] if is_within(program, worktree) and not row.own_command else []
    if not wants_typescript(row):
        return Found(argv, row.initialization, tuple(code))
    server = typescript_of(row, program, root, worktree)
    if server is None:
        return Missing(Sentence("There is no TypeScript for it."))
    if is_within(server, worktree):
        code.append(server)
    return Found(argv, told(row, server), tuple(code))


# Servers that are told which TypeScript to use: by themselves they would take, and run, the project's.

_SERVER = "typescript/lib/tsserver.js"


def wants_typescript(row: Row) -> bool:
    return _mentions(row.initialization)


def told(row: Row, server: Path) -> Mapping[str, Any]:
    """The row's initialization with this `tsserver.js`."""
    places = {TSSERVER: str(server), TSDK: str(server.parent)}
    return {key: _replaced(value, places) for key, value in row.initialization.items()}


def typescript_of(row: Row, program: Path, root: Path, worktree: Path) -> Path | None:
    """The `tsserver.js` beside the program, on PATH (`tsc`), in our own folder, else the project's."""
    servers = (place / "node_modules" / _SERVER for place in _places(row, program, root, worktree))
    return next((server for server in servers if server.is_file()), None)


def _places(row: Row, program: Path, root: Path, worktree: Path) -> Iterator[Path]:
    compiler = on_path("tsc", worktree)
    for outside in (program, compiler):
        if outside is not None:
            folders = outside.resolve().parents
            yield from (folder for folder in folders if not is_within(folder / "node_modules", worktree))
    yield folder_of(row)
    yield from upward(root, worktree)


def _mentions(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_mentions, value.values()))
    return value in (TSSERVER, TSDK) if isinstance(value, str) else False


def _replaced(value: Any, by: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _replaced(inner, by) for key, inner in value.items()}
    return by.get(value, value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Found:
    """What to start. `code` are the files of the project that would run with it: they take trust."""

    argv: tuple[str, ...]
    initialization: Mapping[str, Any]
    code: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """`reason` says what is not there."""

    reason: str

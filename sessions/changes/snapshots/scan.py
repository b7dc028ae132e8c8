"""What differs between the worktree and our index, sorted into what to add, drop and leave out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sessions.changes.snapshots.changes import (
    FULL_LIMIT,
    NESTED,
    SIZE_LIMIT,
    STORE_FULL,
    TOO_LARGE,
    UNREADABLE,
    Skipped,
)
from sessions.changes.snapshots.project import ProjectGit

_UNTRACKED, _IGNORED = "??", "!!"
_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
_GRADLE = ("build.gradle", "build.gradle.kts")
_MADE_AGAIN: Mapping[str, Sequence[str]] = {
    "node_modules": ("package.json",),
    "bower_components": ("bower.json",),
    ".next": ("package.json",),
    ".nuxt": ("package.json",),
    ".svelte-kit": ("package.json",),
    ".parcel-cache": ("package.json",),
    ".turbo": ("package.json", "turbo.json"),
    "coverage": ("package.json",),
    "dist": ("package.json", *_PYTHON),
    "build": ("package.json", *_PYTHON, *_GRADLE, "CMakeLists.txt", "meson.build", "pubspec.yaml"),
    "target": ("Cargo.toml", "pom.xml", "build.sbt"),
    ".gradle": (*_GRADLE, "settings.gradle", "settings.gradle.kts"),
    "vendor": ("composer.json", "go.mod", "Gemfile"),
    "Pods": ("Podfile",),
    ".dart_tool": ("pubspec.yaml",),
    ".terraform": ("main.tf", ".terraform.lock.hcl"),
    "_build": ("mix.exs", "dune-project"),
    "deps": ("mix.exs",),
    ".tox": ("tox.ini", *_PYTHON),
    ".nox": ("noxfile.py",),
    ".eggs": _PYTHON,
    "zig-cache": ("build.zig",),
    ".zig-cache": ("build.zig",),
    "zig-out": ("build.zig",),
}
"""Folders that a program makes again, each where one of these files lies beside it."""
_MARKED = ("CACHEDIR.TAG", "pyvenv.cfg")
"""A folder with one of these in it is a cache (bford.info/cachedir) or a virtual environment."""


@dataclass(slots=True)
class Scan:
    """`add` and `drop` are paths from the top; `staged` says that the index is ahead of the last tree.
    `ignored` are paths from the top, too, of folders with `/` at the end, if git was asked for them."""

    add: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    staged: bool = False
    ignored: list[str] = field(default_factory=list)


def read_status(output: bytes, project: ProjectGit, *, full: bool = False) -> Scan:
    """Sort the output of `git status --porcelain -z` (git-status(1), Porcelain Format Version 1). `full`: the
    store has no room for large files."""
    scan = Scan()
    for code, path in _entries(output):
        if code == _IGNORED:
            scan.ignored.append(path)
            continue
        if code[0] not in " ?":
            scan.staged = True
        if code == _UNTRACKED or code[1] != " ":
            _sort(scan, code, path, project, full)
    return scan


def ignored_folders(output: bytes, project: ProjectGit) -> set[str]:
    """The folders that `git status --ignored=matching` names, in the worktree."""
    found = (path for code, path in _entries(output) if code == _IGNORED and path.endswith("/"))
    return {path.removeprefix(project.prefix).removesuffix("/") for path in found}


def left_out(path: Path, *, full: bool = False) -> tuple[str | None, os.stat_result | None]:
    """Why a file is left out of snapshots (None: it is not), and its lstat (None: there is no such file)."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except PermissionError:
        return UNREADABLE, None
    if not stat.S_ISREG(found.st_mode):
        return None, found if stat.S_ISLNK(found.st_mode) else None
    if found.st_size > SIZE_LIMIT:
        return TOO_LARGE, found
    if full and found.st_size > FULL_LIMIT:
        return STORE_FULL, found
    return (None if os.access(path, os.R_OK) else UNREADABLE), found


def _entries(output: bytes) -> Iterator[tuple[str, str]]:
    for entry in output.split(b"\0"):
        if entry:
            yield entry[:2].decode(), os.fsdecode(entry[3:])


def _sort(scan: Scan, code: str, path: str, project: ProjectGit, full: bool) -> None:
    prefix = project.prefix
    if path.endswith("/"):
        scan.skipped.append(Skipped(path.removeprefix(prefix), NESTED, (0, 0)))
        return
    reason, found = left_out(project.top / path, full=full)
    if code[1] == "D" and reason != UNREADABLE:  # a path beyond a new link has an lstat, but is gone
        reason = found = None
    if reason:
        stamp = (found.st_size, found.st_mtime_ns) if found else (0, 0)
        scan.skipped.append(Skipped(path.removeprefix(prefix), reason, stamp))
    if found and not reason:
        scan.add.append(path)
    elif code != _UNTRACKED:
        scan.drop.append(path)


def below(top: Path, path: str) -> Iterator[str]:
    """A file, or the files of a folder (with `/` at its end) but for a `.git`, all from the top."""
    if not path.endswith("/"):
        yield path
        return
    for folder, folders, names in os.walk(top / path):
        folders[:] = sorted(name for name in folders if name != ".git")
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (os.path.relpath(os.path.join(folder, name), top) for name in sorted(names + links))


def is_made_again(top: Path, path: str) -> bool:
    """Whether a path from the top is that of a folder (with `/` at its end) that a program makes again."""
    if not path.endswith("/"):
        return False
    folder = top / path
    if folder.name == "__pycache__" or any((folder / name).is_file() for name in _MARKED):
        return True
    return any((folder.parent / name).is_file() for name in _MADE_AGAIN.get(folder.name, ()))


def sizes(top: Path, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The files and links among paths, with the bytes of those that are not too large to be kept."""
    for path in paths:
        with suppress(OSError):
            found = os.lstat(top / path)
            if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
                yield path, found.st_size if found.st_size <= SIZE_LIMIT else 0

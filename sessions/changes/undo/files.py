"""Read, replace and remove files of a worktree, never through a symlink and never outside of it.

Each step into a folder is an `openat` that refuses links; a path with links in it is first resolved and found
inside. So a link put there in the meantime is refused and not followed. New content is on the disk before the
old goes, so a power cut leaves one of the two, whole.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from django.utils.translation.trans_null import gettext_noop

from sessions.core.files import AS_IT_IS, inherit

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = re.compile(r"\.undo-[0-9a-f]{16}")
AS_NEW = 1 << 20
"""In a mode: of its permissions only the executable bit is meant, the rest is as of any new file (umask)."""
NEW_FILE = stat.S_IFREG | 0o644 | AS_NEW


class UnsafePath(Exception):
    """The path must not be written to; the text says why."""


class _LinkInPath(UnsafePath):
    """A folder of the path is a link."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file, or a link with its target as `content`; `mode` is the whole `st_mode`, or has AS_NEW."""

    content: bytes
    mode: int


def is_safe(path: str) -> bool:
    """Whether the names in a path may be those of a project's file."""
    try:
        _segments(path)
    except UnsafePath:
        return False
    return True


def read_file(worktree: Path, path: str) -> FileState | None:
    """What is at `path` now, None for nothing. Raises UnsafePath, OSError."""
    try:
        with _parent(worktree, path) as (folder, name):
            return _read(folder, name)
    except (FileNotFoundError, NotADirectoryError):
        return None


def write_file(worktree: Path, path: str, content: bytes, mode: int) -> int:
    """Put `content` at `path` in one step; returns how many parent folders were made for it.

    `mode` is that of FileState. Raises UnsafePath, OSError.
    """
    folder, made = _open_parent(worktree, path, make=True)
    os.close(folder)
    try:
        _replace(worktree, path, content, mode)
    except BaseException:
        for parent in PurePosixPath(path).parents[:made]:
            remove_empty_folder(worktree, str(parent))
        raise
    return made


def _replace(worktree: Path, path: str, content: bytes, mode: int) -> None:
    with _parent(worktree, path) as (folder, name):
        temporary = f".undo-{secrets.token_hex(8)}"
        try:
            _create(folder, temporary, content, mode, like=name)
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


def remove_file(worktree: Path, path: str) -> None:
    """Remove the file or link at `path`. Raises UnsafePath, OSError."""
    with _parent(worktree, path) as (folder, name):
        os.unlink(name, dir_fd=folder)


def make_folder(worktree: Path, path: str) -> None:
    """Make the folder at `path` and those it is in, as far as they are not there. Raises UnsafePath,
    OSError."""
    folder, _ = _open_parent(worktree, f"{path}/_", make=True)
    os.close(folder)


def remove_empty_folder(worktree: Path, path: str) -> bool:
    """Remove the folder at `path` if it is there and empty; False when it stays."""
    try:
        with _parent(worktree, path) as (folder, name):
            os.rmdir(name, dir_fd=folder)
    except (OSError, UnsafePath):
        return False
    return True


def sync_parent(worktree: Path, path: str) -> None:
    """Have the disk keep which names are in the folder that holds `path`; nothing where there is none."""
    with suppress(OSError, UnsafePath), _parent(worktree, path) as (folder, _):
        os.fsync(folder)


def remove_leftovers(worktree: Path, path: str) -> int:
    """Remove what a write that was cut short left beside `path`; returns how many files went."""
    gone = 0
    with suppress(OSError, UnsafePath), _parent(worktree, path) as (folder, _):
        for name in filter(_TEMPORARY.fullmatch, os.listdir(folder)):
            os.unlink(name, dir_fd=folder)
            gone += 1
    return gone


def same_kind(one: int | None, other: int | None) -> bool:
    """Whether two modes are the same to git: file or link, executable or not."""
    if one is None or other is None:
        return one is other
    alike = stat.S_ISLNK(one) or (one ^ other) & 0o100 == 0
    return stat.S_IFMT(one) == stat.S_IFMT(other) and alike


def same_mode(one: int | None, other: int | None) -> bool:
    """Whether two modes are the same in all their permissions, as far as both are known."""
    if one is None or other is None or stat.S_ISLNK(one) or (one | other) & AS_NEW:
        return same_kind(one, other)
    return one == other


def _read(folder: int, name: str) -> FileState | None:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        return FileState(os.fsencode(os.readlink(name, dir_fd=folder)), found.st_mode)
    if not stat.S_ISREG(found.st_mode):
        raise UnsafePath(gettext_noop("there is a folder or a device at this path now"))
    descriptor = os.open(name, AS_IT_IS, dir_fd=folder)
    with open(descriptor, "rb") as file:
        return FileState(file.read(), found.st_mode)


def _create(folder: int, name: str, content: bytes, mode: int, *, like: str) -> None:
    """`like`: the name of the file whose owner and attributes it gets, if there is one."""
    if stat.S_ISLNK(mode):
        os.symlink(content, os.fsencode(name), dir_fd=folder)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    wide = 0o777 if mode & 0o100 else 0o666
    with open(os.open(name, flags, wide if mode & AS_NEW else 0o600, dir_fd=folder), "wb") as file:
        file.write(content)
        inherit(file.fileno(), like, folder)
        if not mode & AS_NEW:
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
        file.flush()
        os.fsync(file.fileno())


def _segments(path: str) -> tuple[str, ...]:
    segments = PurePosixPath(path).parts
    if not segments or segments[0] == "/" or ".." in segments or "\0" in path:
        raise UnsafePath(gettext_noop("the path leads out of the project"))
    _outside_of_git(segments)
    return segments


def _outside_of_git(segments: tuple[str, ...]) -> None:
    if any(segment.lower() == ".git" for segment in segments):
        raise UnsafePath(gettext_noop("the path is inside of a git repository's own folder"))


def _inside(worktree: Path, path: str) -> tuple[Path, tuple[str, ...]]:
    """The resolved worktree, and the segments of the resolved folder that holds `path`."""
    root = worktree.resolve()
    try:
        folder = root.joinpath(*_segments(path)[:-1]).resolve()
    except RuntimeError as error:  # how pathlib before 3.13 reports it
        raise UnsafePath(gettext_noop("the links in the path lead in a circle")) from error
    if not folder.is_relative_to(root):
        raise UnsafePath(gettext_noop("a link in the path leads out of the project"))
    segments = folder.relative_to(root).parts
    _outside_of_git(segments)
    return root, segments


@contextmanager
def _parent(worktree: Path, path: str) -> Iterator[tuple[int, str]]:
    """The folder that holds `path`, opened, and the name in it."""
    folder, _ = _open_parent(worktree, path)
    try:
        yield folder, PurePosixPath(path).name
    finally:
        os.close(folder)


def _open_parent(worktree: Path, path: str, *, make: bool = False) -> tuple[int, int]:
    """The folder that holds `path`, opened, and how many folders were made on the way to it. Only where a
    link is on the way does the path have to be resolved, which costs more than all the rest."""
    try:
        return _descend(worktree, _segments(path)[:-1], make)
    except (NotADirectoryError, _LinkInPath):
        return _descend(*_inside(worktree, path), make)


def _descend(root: Path, segments: tuple[str, ...], make: bool) -> tuple[int, int]:
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    made = 0
    try:
        for segment in segments:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(segment, dir_fd=folder)
                    made += 1
            folder = _step(folder, segment)
    except BaseException:
        os.close(folder)
        raise
    return folder, made


def _step(folder: int, segment: str) -> int:
    """Go one folder down. The caller keeps owning `folder` when it fails."""
    try:
        deeper = os.open(segment, _FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _LinkInPath(gettext_noop("a link appeared in the path")) from error
        raise
    os.close(folder)
    return deeper

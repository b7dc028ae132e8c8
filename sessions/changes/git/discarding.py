"""What a file is to be once its changes are discarded; the ledger writes it (`operations.files.restore`)."""

from __future__ import annotations

import stat
from pathlib import Path

from django.utils.translation import gettext

from sessions.changes.git.command import Git
from sessions.changes.git.index import Changed, Chosen
from sessions.changes.git.sides import unstaged
from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.files import AS_NEW, FileState, UnsafePath, read_file

Wanted = tuple[FileState | None, str]
"""The file as it is to be, None for no file, and the object id of what it is now, empty for no file."""


def discarded(git: Git, path: str) -> Wanted:
    """All that is not staged; of a new file all. Raises GitError."""
    entry = git.read("ls-files", "--stage", "-z", "--", path).partition(b"\0")[0]
    if not entry:
        return gone(git, path)
    mode, address, number = entry.partition(b"\t")[0].decode().split()
    if stat.S_IFMT(int(mode, 8)) not in (stat.S_IFREG, stat.S_IFLNK) or number != "0":
        raise Changed(gettext("A submodule or a conflict is not discarded here."))
    return checked_out(git, path, int(mode, 8), address)


def checked_out(git: Git, path: str, mode: int, address: str) -> Wanted:
    """The file with the content of a blob, as git writes it to the disk: filters and line ends included.
    Raises GitError."""
    now = _now(git.top, path)
    how = ("--filters", f"--path={path}") if stat.S_ISREG(mode) else ("blob",)
    content = git.read("cat-file", *how, address)
    same = now is not None and stat.S_IFMT(now.mode) == stat.S_IFMT(mode) and not (now.mode ^ mode) & 0o100
    return FileState(content, now.mode if now and same else mode | AS_NEW), _seen(now)


def gone(git: Git, path: str) -> Wanted:
    """No file. Raises Changed."""
    return None, _seen(_now(git.top, path))


def discarded_part(git: Git, path: str, chosen: Chosen) -> Wanted:
    """Some of what is not staged. Raises Changed, GitError."""
    sides, now = unstaged(git, path), _now(git.top, path)
    if sides is None or now is None or now.content != sides.after:
        raise Changed(
            gettext("git converts this file, or it has changed since: it can only be discarded as a whole.")
        )
    _, rest = chosen.of(sides)
    return FileState(rest, now.mode), _seen(now)


def _now(top: Path, path: str) -> FileState | None:
    try:
        return read_file(top, path)
    except (UnsafePath, OSError) as error:
        raise Changed(gettext("The file cannot be read: %(error)s.") % {"error": error}) from error


def _seen(state: FileState | None) -> str:
    return object_id(state.content) if state else ""

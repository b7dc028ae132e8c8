"""What a file is to be once its changes are discarded; the ledger writes it (`operations.files.restore`)."""

from __future__ import annotations

import stat
from pathlib import Path

from sessions.changes.git.command import Git
from sessions.changes.git.index import Changed, Chosen
from sessions.changes.git.sides import unstaged
from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.files import AS_NEW, FileState, UnsafePath, read_file

Wanted = tuple[FileState | None, str]
"""The file as it is to be, None for no file, and the object id of what it is now, empty for no file."""


def discarded(git: Git, path: str) -> Wanted:
    """All that is not staged; of a new file all. Raises GitError."""
    now = _now(git.top, path)
    entry = git.read("ls-files", "--stage", "-z", "--", path).partition(b"\0")[0]
    if not entry:
        return None, _seen(now)
    mode = int(entry.split(b" ", 1)[0], 8)
    if stat.S_IFMT(mode) not in (stat.S_IFREG, stat.S_IFLNK) or b" 0\t" not in entry:
        raise Changed("A submodule or a conflict is not discarded here.")
    content = git.read("cat-file", "--filters", f":{path}")
    same = now is not None and stat.S_IFMT(now.mode) == stat.S_IFMT(mode) and not (now.mode ^ mode) & 0o100
    return FileState(content, now.mode if now and same else mode | AS_NEW), _seen(now)


def discarded_part(git: Git, path: str, chosen: Chosen) -> Wanted:
    """Some of what is not staged. Raises Changed, GitError."""
    sides, now = unstaged(git, path), _now(git.top, path)
    if sides is None or now is None or now.content != sides.after:
        raise Changed("git converts this file, or it has changed since: it can only be discarded as a whole.")
    _, rest = chosen.of(sides)
    return FileState(rest, now.mode), _seen(now)


def _now(top: Path, path: str) -> FileState | None:
    try:
        return read_file(top, path)
    except (UnsafePath, OSError) as error:
        raise Changed(f"The file cannot be read: {error}.") from error


def _seen(state: FileState | None) -> str:
    return object_id(state.content) if state else ""

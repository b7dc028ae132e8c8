"""A folder for each session below the system's temporary folder, for files that are of no use afterwards: the
agent may read and write there without `external_directory`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

PRIVATE = 0o700


def folder(outputs: Path, session_id: str) -> Path:
    """Where it is, or would be. `outputs`, the folder of tool outputs, tells one server from another."""
    return _root(outputs) / session_id


def made(outputs: Path, session_id: str) -> Path | None:
    """The folder, made if it was not there; None where somebody else could have a hand in it. Blocks."""
    for path in (_root(outputs), folder(outputs, session_id)):
        try:
            path.mkdir(mode=PRIVATE, exist_ok=True)
            status = path.lstat()
        except OSError:
            return None
        private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
        if not private or status.st_uid != os.getuid():
            return None
    return folder(outputs, session_id)


def known(outputs: Path) -> list[str]:
    """The sessions that have one. Blocks."""
    try:
        return os.listdir(_root(outputs))
    except OSError:
        return []


def remove(outputs: Path, sessions: Iterable[str]) -> None:
    """Blocks."""
    for session_id in sessions:
        shutil.rmtree(folder(outputs, session_id), ignore_errors=True)


def _root(outputs: Path) -> Path:
    server = hashlib.sha256(os.fsencode(outputs.resolve())).hexdigest()[:8]
    return Path(tempfile.gettempdir()).resolve() / f"opencode-web-{os.getuid()}-{server}"

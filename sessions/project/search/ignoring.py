"""What git ignores.

The repository's own configuration may name a program that git starts whenever it reads the index.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

_TIMEOUT_SECONDS = 20


def ignored(directory: Path, entries: Iterable[Path]) -> set[Path]:
    """Which of these git ignores; none outside of a git repository."""
    check = ["check-ignore", "-z", "--stdin"]
    # What is tracked is not ignored, whatever the rules say; but to read a large index takes its time.
    named = _git(directory, [*check, "--no-index"], b"\0".join(map(os.fsencode, entries)))
    found = _git(directory, check, b"\0".join(named)) if named else []
    return {Path(os.fsdecode(name)) for name in found}


def ignored_folders(directory: Path, below: Iterable[str]) -> set[str]:
    """The folders that git ignores as a whole, below some of `directory`, all relative to it; those
    themselves included. None outside of a git repository."""
    paths = [f":(literal){path}" if path else "." for path in below]
    asked = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--", *paths]
    found = _git(directory, asked)
    return {os.fsdecode(name[:-1]) for name in found if name.endswith(b"/")}


def _git(directory: Path, arguments: list[str], names: bytes = b"") -> list[bytes]:
    """Names that git answers; none when it fails."""
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(directory), *arguments]
    try:
        done = subprocess.run(
            command, input=names, capture_output=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [name for name in done.stdout.split(b"\0") if name]

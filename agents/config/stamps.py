"""Whether a file or folder is still what it was."""

from __future__ import annotations

import os
from pathlib import Path

Stamp = tuple[int, int] | None
"""Modification time in nanoseconds and size; None where there is nothing."""


def stamp(path: Path) -> Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size

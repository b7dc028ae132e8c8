"""How a file is called where capitals and small letters are the same (macOS, drives of Windows)."""

from __future__ import annotations

import os
from os import scandir
from pathlib import Path


def as_listed(path: Path) -> Path:
    """An absolute path with each name as its folder lists it, where it is found by other spellings too; what
    is not there stays as it is written. Blocks."""
    listed = Path(path.anchor)
    for name in path.parts[1:]:
        listed /= _listed(listed, name)
    return listed


def _listed(folder: Path, name: str) -> str:
    other = name.swapcase()
    if other == name:
        return name
    try:
        found = os.lstat(folder / name)
        if not os.path.samestat(found, os.lstat(folder / other)):
            return name
        with scandir(folder) as entries:
            alike = [entry.name for entry in entries if entry.name.casefold() == name.casefold()]
    except OSError:
        return name
    return name if name in alike else next(iter(alike), name)

"""Which folder a language server is started in for a file. Reads the disk."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agents.lsp.matrix.row import Row, Workspace
from sessions.confined import read_whole

_MAX_MANIFEST = 1024 * 1024


def root_of(row: Row, file: Path, worktree: Path) -> Path | None:
    """The root of a file (absolute) for a server; None when the server is not for it. Never above the
    worktree, and None for a file outside of it."""
    folders = [folder for folder in file.parents if folder.is_relative_to(worktree)]
    if not folders or not row.serves(file.name):
        return None
    found = next((folder for group in row.roots if (folder := _nearest(group, folders))), None)
    if _handed_over(row, found, folders):
        return None
    if found is None:
        return worktree if row.fallback else None
    return _workspace_of(row.workspace, found, folders) if row.workspace else found


def _nearest(markers: Iterable[str], folders: Sequence[Path]) -> Path | None:
    return next((folder for folder in folders if any(_has(folder, marker) for marker in markers)), None)


def _has(folder: Path, marker: str) -> bool:
    if "*" in marker:
        return any(True for _ in folder.glob(marker))
    return os.path.lexists(folder / marker)


def _handed_over(row: Row, found: Path | None, folders: Sequence[Path]) -> bool:
    """Whether a marker of another server is nearer to the file than the root, or as near."""
    depth = len(found.parts) if found else 0
    other = _nearest(row.unless, folders)
    nearer = _nearest(row.unless_nearer, folders)
    return bool((other and len(other.parts) >= depth) or (nearer and len(nearer.parts) > depth))


def _workspace_of(workspace: Workspace, found: Path, folders: Sequence[Path]) -> Path:
    """The outermost folder around a manifest whose workspace it belongs to, else its own folder."""
    root = found
    for folder in folders[folders.index(found) :]:
        table = _manifest(folder / workspace.file).get(workspace.table)
        if isinstance(table, dict) and not _is_excluded(found, folder, table.get(workspace.exclude)):
            root = folder
    return root


def _is_excluded(found: Path, folder: Path, excluded: Any) -> bool:
    listed = excluded if isinstance(excluded, list) else []
    return any(found != folder and found.is_relative_to(folder / str(path)) for path in listed)


def _manifest(file: Path) -> dict[str, Any]:
    """Nothing for a file that cannot be read: the server will say so."""
    try:
        return tomllib.loads(read_whole(file, None, _MAX_MANIFEST).decode("utf-8"))
    except (OSError, ValueError):
        return {}

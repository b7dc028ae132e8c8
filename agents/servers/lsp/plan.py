"""What there is to do for a file: which servers, in which roots, may they start? Reads the disk."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.config.configuration import load
from agents.servers.lsp.finding import Found, Missing, find
from agents.servers.lsp.matrix import rows
from agents.servers.lsp.matrix.row import Row, Workspace
from agents.servers.lsp.trusted import Held, ask, gate
from sessions.core.confined import read_whole
from sessions.core.repository import Repository

Outcome = Found | Missing | Held


@dataclass(frozen=True, slots=True)
class Use:
    """One server in one root; `outcome` says whether it may start."""

    row: Row
    root: Path
    worktree: Path
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with its worktree, and the servers of its configuration: none when they are off."""

    directory: Path
    worktree: Path
    rows: tuple[Row, ...]


def place_of(directory: Path) -> Place:
    """Raises OSError for a folder that is not there."""
    directory = directory.resolve()
    configured = tuple(rows(load(directory).config))
    return Place(directory, Repository.of(directory).worktree, configured)


def uses(place: Place, path: Path) -> list[Use]:
    """The servers of a file (absolute). Of those of one choice the ones that are named, else the first that
    can run, else the first that only waits for trust, else the first. What waits is asked for from now on."""
    roots = ((row, root_of(row, path, place.worktree)) for row in place.rows if row.serves(path.name))
    planned = [plan(row, root, place.worktree) for row, root in roots if root is not None]
    chosen = [use for use in planned if not use.row.choice or use in _chosen(planned, use.row.choice)]
    for use in chosen:
        if isinstance(use.outcome, Held):
            ask(use.row, use.root, use.worktree)
    return chosen


def plan(row: Row, root: Path, worktree: Path) -> Use:
    found = find(row, root, worktree)
    outcome: Outcome = gate(row, root, worktree, found) if isinstance(found, Found) else found
    return Use(row, root, worktree, outcome)


def _chosen(planned: Iterable[Use], choice: str) -> list[Use]:
    candidates = [use for use in planned if use.row.choice == choice]
    named = [use for use in candidates if use.row.named]
    return named or sorted(candidates, key=_worse)[:1]


def _worse(use: Use) -> int:
    return (Found, Held, Missing).index(type(use.outcome))


# Which folder a language server is started in for a file. Reads the disk.

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

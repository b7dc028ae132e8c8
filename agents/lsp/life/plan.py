"""What there is to do for a file: which servers, in which roots, may they start? Reads the disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agents.configuration import load
from agents.lsp.finding import Found, Missing, find
from agents.lsp.matrix import rows
from agents.lsp.matrix.row import Row
from agents.lsp.roots import root_of
from agents.lsp.trusted import Held, ask, gate
from sessions.repository import Repository

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

"""How a working tree stands: git-status(1), porcelain format v2."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from django.utils.translation.trans_null import gettext_noop

from sessions.changes.git.command import Git
from sessions.changes.git.ongoing import Ongoing, ongoing

_CONFLICTS = {
    "DD": gettext_noop("deleted by both"),
    "AU": gettext_noop("added by us"),
    "UD": gettext_noop("deleted by them"),
    "UA": gettext_noop("added by them"),
    "DU": gettext_noop("deleted by us"),
    "AA": gettext_noop("added by both"),
    "UU": gettext_noop("changed by both"),
}


@dataclass(frozen=True, slots=True)
class File:
    """One file in one list. `letter` is git's: M, A, D, T, `?`, U; `note` is more about it, in words."""

    path: str
    letter: str
    note: str = ""


@dataclass(slots=True)
class Status:
    """`branch` is empty where none is checked out, `commit` where there is none yet. `doing` is what is half
    done. `ahead` and `behind` count commits, where the branch follows another (`upstream`) that is
    there."""

    branch: str = ""
    commit: str = ""
    upstream: str = ""
    gone: bool = True
    ahead: int = 0
    behind: int = 0
    stashes: int = 0
    doing: Ongoing | None = None
    conflicts: list[File] = field(default_factory=list)
    staged: list[File] = field(default_factory=list)
    changed: list[File] = field(default_factory=list)
    untracked: list[File] = field(default_factory=list)


def status(git: Git) -> Status:
    """Raises GitError. git starts in no submodule, where it would run what the configuration of that one
    names: so it is seen whether one is at another commit, and not what is changed in it."""
    asked = ("status", "--porcelain=v2", "-z", "--branch", "--show-stash", "--no-renames")
    output = git.read(*asked, "--untracked-files=all", "--ignore-submodules=dirty")
    found = Status(doing=ongoing(git))
    for entry in os.fsdecode(output).split("\0"):
        _read(entry, found)
    return found


def _read(entry: str, found: Status) -> None:
    match entry[:1]:
        case "#":
            _head(entry[2:], found)
        case "1":
            _, state, submodule, *_, path = entry.split(" ", 8)
            note = _submodule(submodule)
            if state[0] != ".":
                found.staged.append(File(path, state[0], note))
            if state[1] != ".":
                found.changed.append(File(path, state[1], note))
        case "u":
            _, state, *_, path = entry.split(" ", 10)
            found.conflicts.append(File(path, "U", _CONFLICTS.get(state, "")))
        case "?":
            found.untracked.append(
                File(entry[2:], "?", gettext_noop("a repository of its own") if entry.endswith("/") else "")
            )


def _head(line: str, found: Status) -> None:
    name, _, value = line.partition(" ")
    match name:
        case "branch.oid":
            found.commit = "" if value == "(initial)" else value
        case "branch.head":
            found.branch = "" if value == "(detached)" else value
        case "branch.upstream":
            found.upstream = value
        case "branch.ab":
            ahead, behind = value.split()
            found.gone, found.ahead, found.behind = False, int(ahead), -int(behind)
        case "stash":
            found.stashes = int(value)


def _submodule(field: str) -> str:
    """Of `S<c><m><u>`."""
    if not field.startswith("S"):
        return ""
    return gettext_noop("submodule, other commit") if field[1] == "C" else gettext_noop("submodule")

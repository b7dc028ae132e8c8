"""The words of this room: a tree, what was left out of it, and a change of one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils.translation.trans_null import gettext_noop

from sessions.changes.snapshots.modes import Modes

SIZE_LIMIT = 2 * 1024 * 1024
"""Bytes; larger files are left out of snapshots, and each place that leaves one out says so."""

FULL_LIMIT = 64 * 1024
"""The same while the stores hold more than their quota: text goes on being kept."""

TOO_LARGE = gettext_noop("larger than 2 MB")
STORE_FULL = gettext_noop("larger than 64 KB while the store is full")
UNREADABLE = gettext_noop("cannot be read")
NESTED = gettext_noop("a git repository of its own with more files than are kept of one")
IGNORED = gettext_noop("git ignores it, and it does not fit into what is kept of such files")
MADE_AGAIN = gettext_noop("git ignores it, and it is made again by a program")
NOT_KEPT = gettext_noop("git ignored it")
REPOSITORY = gettext_noop("the folder of a git repository itself is not kept")
LOST = gettext_noop("its content before is no longer in the project's git repository")
MOVED_IN = gettext_noop("it was there before the command, in a place that no snapshot sees")
"""Of a change with its content after: `mv` brought it."""


def in_words(skipped: str) -> str:
    """Why a change that was left out of snapshots cannot be taken back."""
    return skipped if skipped == MOVED_IN else f"its content was not kept: {skipped}"


class SnapshotError(Exception):
    """No snapshot could be taken; the text is fit for the page."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path (of a nested repository: its folder) left out of a tree; `stamp` is (size, mtime in ns)."""

    path: str
    reason: str
    stamp: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tree:
    """The worktree at one moment: `hash` of a git tree in the store, what is not in it, and the permissions
    of its files. `repositories` are the folders with a `.git` in them, the worktree itself as "". `made` are
    the folders that came since the tree before, as far as that is known; `ignored` what git ignored then, of
    folders with `/` at the end."""

    hash: str
    skipped: tuple[Skipped, ...] = ()
    modes: Modes = field(default_factory=Modes)
    repositories: frozenset[str] = frozenset()
    made: frozenset[str] = field(default=frozenset(), compare=False)
    ignored: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after.

    `path` is relative to the worktree, with `/`; bytes that are not UTF-8 are surrogate escapes.
    `before` and `after` are object ids, None where the file did not exist. Modes are whole (`st_mode`), or
    have AS_NEW (`changes.undo.files`). Where `skipped` gives a reason, a content is unknown and the change
    cannot be undone; of one that is MOVED_IN the place it had before is not known.
    `new_folders` is how many of the parent folders the change made: undoing removes them when empty.
    """

    path: str
    before: str | None
    after: str | None
    mode_before: int | None = None
    mode_after: int | None = None
    skipped: str | None = None
    new_folders: int = 0

"""Files that a scope moved: a removed one and a new one of the same or a similar content are one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sessions.changes.diffs.renames import Moved
from sessions.changes.diffs.renames import renames as found_renames
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore


@dataclass(frozen=True, slots=True)
class Renamed:
    """`change` is from the old content to the new, at the new path; `whole` is what happened at the old."""

    source: str
    change: Change
    whole: tuple[Change, ...]


def renames(steps: Mapping[str, tuple[Change, ...]], objects: ObjectStore) -> dict[str, Renamed]:
    """By new path. Only files that came or went in one step count."""
    single = {path: own[0] for path, own in steps.items() if len(own) == 1 and not own[0].skipped}

    def load(oid: str) -> bytes | None:
        try:
            return objects.get(oid)
        except ObjectMissing:
            return None

    moved = [Moved(path, step.before, step.after) for path, step in single.items()]
    return {
        path: _renamed(single[path], single[source]) for path, source in found_renames(moved, load).items()
    }


def _renamed(new: Change, old: Change) -> Renamed:
    change = replace(new, before=old.before, mode_before=old.mode_before, new_folders=0)
    return Renamed(old.path, change, (old,))

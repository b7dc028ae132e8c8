"""Changed files with their counts, and the patches below where they are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def counts(diffs: Sequence[Json]) -> str:
    """One bullet for each file after the sum."""
    if not diffs:
        return "No changes."
    added, removed = sum(map(_added, diffs)), sum(map(_removed, diffs))
    heading = f"{len(diffs)} file{'s' if len(diffs) != 1 else ''}, +{added} -{removed}:"
    return "\n".join([heading, *map(_line, diffs)])


def patches(diffs: Sequence[Json]) -> str:
    """The counts, then each file's patch."""
    texts = [f"```diff\n{diff['patch'].rstrip()}\n```" for diff in diffs if diff.get("patch")]
    return "\n\n".join([counts(diffs), *texts])


def _line(diff: Json) -> str:
    name = diff.get("file") or diff.get("path") or "?"
    return f"- {name} ({diff.get('status') or 'modified'}, +{_added(diff)} -{_removed(diff)})"


def _added(diff: Json) -> int:
    """Two shapes of the protocol name it differently."""
    return int(diff["additions"] if "additions" in diff else diff["added"])


def _removed(diff: Json) -> int:
    return int(diff["deletions"] if "deletions" in diff else diff["removed"])

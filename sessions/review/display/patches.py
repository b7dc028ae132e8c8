"""A proposed patch of several files: one table a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions.diffs.hunks import FileDiff
from sessions.diffs.parse import parse
from sessions.rendering.text import visible

from .table import Shown, show

Metadata = Mapping[str, Any]

MANY = "Change these files?"
_HAPPENS = {"add": "new file", "delete": "is removed"}


@dataclass(frozen=True, slots=True)
class Proposed:
    """One file; `happens` says what becomes of it beyond a change."""

    name: str
    happens: str
    diff: Shown
    additions: int
    deletions: int


def is_patch(data: Metadata) -> bool:
    """Whether a request to edit is for more files than one."""
    return len(_given(data)) > 1


def patch(data: Metadata, most: int) -> dict[str, Any] | None:
    """What the question shows, at most so many rows; None for a diff that cannot be read whole."""
    diffs = [(file, parse(str(file.get("diff", "")))) for file in _given(data)]
    if any(diff.truncated for _, diff in diffs):
        return None
    files = []
    for file, diff in diffs:
        files.append(_proposed(file, diff, most))
        most = max(0, most - sum(len(hunk.rows) for hunk in diff.hunks))
    cut = sum(file.diff.left_out for file in files)
    facts = (("Not shown", f"{cut} more lines of this patch"),) if cut else ()
    return {"title": MANY, "files": tuple(files), "facts": facts}


def _proposed(file: Metadata, diff: FileDiff, most: int) -> Proposed:
    name = visible(str(file.get("relativePath", "")))
    happens = _HAPPENS.get(str(file.get("type", "")), "")
    if file.get("movePath"):
        happens = f"moved from {visible(str(file['movePath']))}"
    return Proposed(name, happens, show(diff, name, "unified", limit=most), diff.additions, diff.deletions)


def _given(data: Metadata) -> list[Metadata]:
    given = data.get("files")
    return [file for file in given if isinstance(file, dict)] if isinstance(given, list) else []

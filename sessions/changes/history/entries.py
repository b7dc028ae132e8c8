"""What the ledger says happened, for the log and for the timeline: calls of tools, and operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db.models import Q, QuerySet
from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.undo.plan import WRITES
from sessions.core.models import FileChange, Operation
from sessions.core.models.ledger import shown, unpack_path
from sessions.core.store import family
from sessions.core.store.operations import LEAVE, TAKE

Kind: TypeAlias = Operation.Kind
State: TypeAlias = Operation.State
Origin: TypeAlias = FileChange.Origin

_ENDS = {"already": gettext_noop("was so already"), "missing": gettext_noop("is gone")}


@dataclass(frozen=True, slots=True)
class CallEntry:
    """The ledger entries of one tool call, oldest first."""

    rows: list[FileChange]

    @property
    def newest(self) -> FileChange:
        return self.rows[-1]


@dataclass(frozen=True, slots=True)
class FileLine:
    """One file of an entry; `words` say what came of it where that is not plain."""

    name: str
    additions: int
    deletions: int
    words: str = ""


def by_tools() -> QuerySet[FileChange]:
    """What calls wrote; what a person kept of staged edits is an operation's."""
    return FileChange.objects.filter(operation=None).exclude(origin=Origin.KEPT)


def of_session(session_id: str) -> QuerySet[FileChange]:
    """All that a session, its subagents and verdicts in them wrote, oldest first. An undo that is still being
    carried out is not among it."""
    made = Q(session_id=session_id) | Q(for_session_id=session_id)
    verdicts = Q(operation__isnull=False, session_id__in=family.of(session_id))
    rows = FileChange.objects.filter(made | verdicts)
    return rows.exclude(operation__state=State.PLANNED).order_by("id")


def by_call(rows: Iterable[FileChange]) -> dict[tuple[str, str, str], CallEntry]:
    """Calls by session, message and part, in the order of their first entry."""
    found: dict[tuple[str, str, str], CallEntry] = {}
    for row in rows:
        found.setdefault((row.session_id, row.message_id, row.part_id), CallEntry([])).rows.append(row)
    return found


def title(operation: Operation) -> str:
    """What was done, in a few words."""
    if operation.kind == Kind.EDIT:
        return f"{gettext(_BY_HAND[operation.scope['act']])} {operation.scope.get('name', '')}".rstrip()
    words = gettext(Kind(operation.kind).label)
    if operation.kind not in (Kind.UNDO, Kind.REDO):
        return words
    if operation.hunks and not any(hunk["key"] == "" for hunk in operation.hunks):
        count = len(operation.hunks)
        said = ngettext("%(what)s of %(count)s hunk", "%(what)s of %(count)s hunks", count)
    else:
        count = len(operation.outcome)
        said = ngettext(
            "%(what)s of changes of %(count)s file", "%(what)s of changes of %(count)s files", count
        )
    return said % {"what": words, "count": count}


_BY_HAND = {
    "save": gettext_noop("Edited by hand"),
    "make": gettext_noop("Made by hand"),
    "move": gettext_noop("Moved by hand"),
    "copy": gettext_noop("Copied by hand"),
    "remove": gettext_noop("Removed by hand"),
    "rename": gettext_noop("Renamed in all files"),
    "replace": gettext_noop("Replaced in files"),
    "discard": gettext_noop("Discarded in the git panel"),
    "resolve": gettext_noop("Resolved a conflict in the git panel"),
    "delete-branch": gettext_noop("Deleted the branch"),
    "restore-branch": gettext_noop("Brought back the branch"),
    "delete-tag": gettext_noop("Deleted the tag"),
    "restore-tag": gettext_noop("Brought back the tag"),
    "drop-stash": gettext_noop("Dropped what was put aside:"),
    "restore-stash": gettext_noop("Put aside once more:"),
    LEAVE: gettext_noop("Moved to a worktree with a session"),
    TAKE: gettext_noop("Taken from a worktree:"),
}


def files_of(operation: Operation) -> list[FileLine]:
    """What came of each file."""
    return [_line(entry) for entry in operation.outcome]


def _line(entry: Mapping[str, Any]) -> FileLine:
    name, reason = shown(unpack_path(entry["path"])), entry.get("reason", "")
    if entry["outcome"] in WRITES:
        return FileLine(name, entry.get("additions", 0), entry.get("deletions", 0), reason)
    ends = _ENDS.get(entry["outcome"])
    words = gettext(ends) if ends else gettext("left alone: %(reason)s") % {"reason": gettext(reason)}
    return FileLine(name, 0, 0, words)

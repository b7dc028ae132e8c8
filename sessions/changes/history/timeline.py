"""The timeline of a session, read from the rows. Runs on the ORM's thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Substr

from sessions.core.models import FileChange, Message, Operation, Part, Session
from sessions.core.models.ledger import shown

from .conversation import WORDS, conversation_moments
from .entries import CallEntry, Origin, by_call, files_of, of_session, title
from .moments import KINDS, Kind, Moment, Touched
from .others import other_moments

PAGE = 150
"""Moments shown at first, the newest; earlier ones come on demand."""

_ORDER = list(KINDS)
_ENTRY = (
    "time_created", "operation", "session", "message_id", "part_id", "for_message_id", "origin", "path",
    "before", "after", "skipped",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timeline:
    """`moments` are those that are shown, oldest first; `earlier` counts the ones before them.

    `stops` are the points that the files can be looked at: ids of the ledger, rising, beginning with 0 for
    before any change. `turns` are all turns, for the marks of the slider.
    """

    moments: Sequence[Moment]
    earlier: int
    stops: Sequence[int]
    turns: Sequence[Moment]
    counts: dict[Kind, int]


def collect(session: Session) -> list[Moment]:
    """Everything that happened, oldest first, each with the ledger's newest entry by then."""
    found = sorted(
        chain(conversation_moments(session), _ledger_moments(session), other_moments(session)),
        key=lambda moment: (moment.time, _ORDER.index(moment.kind), moment.change, moment.key),
    )
    _tie(found, session.id)
    newest = 0
    for moment in found:
        newest = moment.change = max(newest, moment.change)
    return found


def timeline(session: Session, *, kinds: Collection[str] = (), show: int = PAGE) -> Timeline:
    """The last `show` moments of these kinds (none: of all)."""
    found = collect(session)
    wanted = [moment for moment in found if not kinds or moment.kind in kinds]
    shown = wanted[-show:]
    _name_calls(shown)
    return Timeline(
        moments=shown,
        earlier=len(wanted) - len(shown),
        stops=sorted({0, *(moment.change for moment in found)}),
        turns=[moment for moment in found if moment.kind == "turn"],
        counts={kind: sum(moment.kind == kind for moment in found) for kind in KINDS},
    )


def moment_at(session: Session, change: int) -> Moment | None:
    """What brought the files to where they were after an entry of the ledger."""
    moment = _moment_of(session, change)
    if moment is not None:
        _name_calls([moment])
        _tie([moment], session.id)
    return moment


def _tie(moments: Sequence[Moment], session_id: str) -> None:
    """Only messages that are still in the conversation can be gone to."""
    known = set(Message.objects.filter(session_id=session_id).values_list("id", flat=True))
    for moment in moments:
        moment.message = moment.message if moment.message in known else ""


def _name_calls(moments: Sequence[Moment]) -> None:
    """Say which tool made a change, and of a command what it was."""
    parts = [moment.part for moment in moments if moment.part]
    if not parts:
        return
    asked = KeyTransform("input", KeyTransform("state", "data"))
    rows = Part.objects.filter(id__in=parts).annotate(
        command=Substr(KeyTextTransform("command", asked), 1, WORDS)
    )
    named = {row[0]: row for row in rows.values_list("id", "data__tool", "command")}
    for moment in moments:
        if moment.part in named:
            _name(moment, *named[moment.part][1:])


def _name(moment: Moment, tool: Any, command: str | None) -> None:
    if command:
        moment.title, moment.detail = "Command", command
    elif tool in ("edit", "multiedit", "write", "apply_patch"):
        moment.title = {"write": "Write", "apply_patch": "Patch"}.get(tool, "Edit")
    elif tool:
        moment.title = f"Changed by {tool}"


def _ledger_moments(session: Session) -> list[Moment]:
    """One moment a call that changed files, one an operation."""
    by_tools: list[FileChange] = []
    written: dict[str, list[FileChange]] = {}
    for row in of_session(session.id).only(*_ENTRY):
        (written.setdefault(row.operation_id, []) if row.operation_id else by_tools).append(row)
    rows = Operation.objects.filter(Q(id__in=list(written)) | Q(session_id=session.id))
    done = rows.exclude(state=Operation.State.PLANNED).order_by("id")
    return [
        *(_call(session.id, call) for call in by_call(by_tools).values()),
        *(_operation(row, written.get(row.id, ())) for row in done),
    ]


def _moment_of(session: Session, change: int) -> Moment | None:
    """The call or the operation that an entry belongs to, as it stood with that entry."""
    rows = of_session(session.id).filter(id__lte=change)
    last = rows.filter(id=change).select_related("operation").first()
    if last is None:
        return None
    if last.operation is not None:
        return _operation(last.operation, list(rows.filter(operation=last.operation)))
    place = {"session_id": last.session_id, "message_id": last.message_id, "part_id": last.part_id}
    return _call(session.id, CallEntry(list(rows.filter(operation=None, **place))))


def _call(session_id: str, call: CallEntry) -> Moment:
    last = call.newest
    own = last.session_id == session_id
    by_command = any(row.origin in (Origin.COMMAND, Origin.OVERLAP) for row in call.rows)
    return Moment(
        key=f"chg-{last.pk}",
        kind="edit",
        time=last.time_created,
        title="Command" if by_command else "Edit",
        note="" if own else "by a subagent",
        message=last.message_id if own else last.for_message_id,
        part=last.part_id,
        change=last.pk,
        files=[Touched(shown(row.path), row.before, row.after, row.skipped) for row in call.rows],
    )


def _operation(row: Operation, written: Sequence[FileChange]) -> Moment:
    alone = sum(entry["outcome"] in ("conflict", "unsafe") for entry in row.outcome)
    by = f"by {row.actor}" if row.actor else ""
    return Moment(
        key=row.id,
        kind="undo",
        time=max([row.time_created, *(change.time_created for change in written)]),
        title=title(row),
        detail=row.words,
        note=" · ".join(filter(None, [by, f"{alone} left alone" if alone else ""])),
        message=row.message_id,
        change=max((change.pk for change in written), default=0),
        tone="warn" if alone else "",
        files=[
            Touched(file.name, note=file.words, additions=file.additions, deletions=file.deletions)
            for file in files_of(row)
        ],
    )

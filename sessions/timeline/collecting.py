"""The timeline of a session, read from the rows. Runs on the ORM's thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Substr

from sessions.models import Message, Part, Session

from .conversation import WORDS, conversation_moments
from .ledger import ledger_moments, moment_of
from .moments import KINDS, Kind, Moment
from .others import other_moments

PAGE = 150
"""Moments shown at first, the newest; earlier ones come on demand."""

_ORDER = list(KINDS)


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
        chain(conversation_moments(session), ledger_moments(session), other_moments(session)),
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
    moment = moment_of(session, change)
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

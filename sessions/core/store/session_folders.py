"""Folders of sessions in the list of a project, and the order in them and among what is pinned. They are no
part of a session's wire form."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext

from sessions.core.ids import ascending, now
from sessions.core.models import Label, Session, SessionFolder

from . import events
from . import sessions as session_store

LONGEST = 40
CHANGED = "session.folders"
"""Ours: the folders of a project are others, or otherwise."""


class Refused(ValueError):
    """It cannot be a folder; the text is for the person who asked."""


def of_project(project_id: str) -> list[SessionFolder]:
    return list(SessionFolder.objects.filter(project_id=project_id))


def get(project_id: str, folder_id: str) -> SessionFolder | None:
    return SessionFolder.objects.filter(project_id=project_id, id=folder_id).first()


def make(project_id: str, name: str, colour: str) -> SessionFolder:
    """A new one, below the others. Raises Refused."""
    name, colour = _checked(name, colour)
    with events.together():
        last = SessionFolder.objects.filter(project_id=project_id).aggregate(Max("position"))["position__max"]
        position = 0 if last is None else last + 1
        row = SessionFolder.objects.create(
            id=ascending("fld"), project_id=project_id, name=name, colour=colour, position=position
        )
        _tell(project_id)
    return row


def change(row: SessionFolder, name: str, colour: str) -> None:
    """Raises Refused."""
    row.name, row.colour = _checked(name, colour)
    _save(row, "name", "colour")


def fold(row: SessionFolder, folded: bool) -> None:
    row.folded = folded
    _save(row, "folded")


def remove(row: SessionFolder) -> None:
    """Its sessions are listed by their days again."""
    with events.together():
        row.delete()
        _tell(row.project_id)


def put(ids: Sequence[str], folder: SessionFolder | None) -> None:
    """Sessions into a folder, above those that are in it, the first of them on top; with None into none."""
    with events.together():
        rows = Session.objects.in_bulk(list(ids))
        moment = now() + len(rows)
        for number, row in enumerate(rows[id] for id in ids if id in rows):
            row.session_folder, row.time_filed = folder, moment - number if folder else None
            row.save(update_fields=["session_folder", "time_filed"])
            session_store.announce("session.updated", row)


def arrange(ids: Sequence[str]) -> None:
    """Give sessions of one place this order: of what is pinned, or of a folder."""
    with events.together():
        rows = Session.objects.in_bulk(list(ids))
        placed = [rows[id] for id in ids if id in rows and _column(rows[id])]
        if len({(_column(row), row.session_folder_id) for row in placed if not row.time_pinned}) > 1:
            return
        times = sorted((getattr(row, _column(row)) for row in placed), reverse=True)
        for row, time in zip(placed, _apart(times), strict=True):
            if getattr(row, _column(row)) != time:
                setattr(row, _column(row), time)
                row.save(update_fields=[_column(row)])
                session_store.announce("session.updated", row)


def _column(row: Session) -> str:
    """Where the order of a session in its place is from; empty where that is its last use."""
    if row.time_pinned:
        return "time_pinned"
    return "time_filed" if row.session_folder_id else ""


def _apart(times: Sequence[int]) -> list[int]:
    """The same, high to low, with no two alike: what was pinned at one time has no order."""
    found: list[int] = []
    for time in reversed(times):
        found.append(max(time, found[-1] + 1) if found else time)
    return found[::-1]


def _checked(name: str, colour: str) -> tuple[str, str]:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST or not name.isprintable():
        raise Refused(gettext("A folder has a name of up to %(longest)s characters.") % {"longest": LONGEST})
    if colour not in Label.Colour:
        raise Refused(gettext("Choose a colour."))
    return name, colour


def _save(row: SessionFolder, *columns: str) -> None:
    with events.together():
        row.save(update_fields=columns)
        _tell(row.project_id)


def _tell(project_id: str) -> None:
    with transaction.atomic():
        events.record(CHANGED, {"projectID": project_id}, project=project_id)

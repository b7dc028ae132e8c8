"""Labels of sessions: which there are, given and taken. They are no part of a session's wire form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from django.utils.translation import gettext

from sessions.core.models import Label, Session

from . import events
from . import sessions as session_store

LONGEST = 40


class Refused(ValueError):
    """It cannot be a label; the text is for the person who wrote it."""


def every() -> list[Label]:
    return list(Label.objects.all())


def of_project(project_id: str) -> list[Label]:
    """Those that sessions of its list have."""
    rows = Label.objects.filter(sessions__project_id=project_id, sessions__time_deleted=None)
    return list(rows.distinct())


def by_session(ids: Collection[str]) -> Mapping[str, Sequence[Label]]:
    """Of these sessions those that have any, by their ids."""
    links = Label.sessions.through.objects.filter(session_id__in=ids).select_related("label")
    found: dict[str, list[Label]] = {}
    for link in links.order_by("label_id"):
        found.setdefault(link.session_id, []).append(link.label)
    return found


def common(ids: Collection[str]) -> set[str]:
    """The names of those that all of these sessions have."""
    names = [{label.name for label in labels} for labels in by_session(ids).values()]
    return set.intersection(*names) if len(names) == len(set(ids)) and names else set()


def make(name: str, colour: str) -> Label:
    """A new one, or another colour for one that there is. Raises Refused."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST or not name.isprintable():
        raise Refused(gettext("A label has up to %(longest)s characters.") % {"longest": LONGEST})
    if colour not in Label.Colour:
        raise Refused(gettext("Choose a colour."))
    row, _ = Label.objects.update_or_create(name=name, defaults={"colour": colour})
    return row


def choose(ids: Collection[str], *, give: Collection[str] = (), take: Collection[str] = ()) -> None:
    """Labels by their names for sessions; what no session has any more goes."""
    with events.together():
        rows = list(Session.objects.filter(id__in=list(ids)))
        for label in Label.objects.filter(name__in=list(give)):
            label.sessions.add(*rows)
        for label in Label.objects.filter(name__in=list(take)):
            label.sessions.remove(*rows)
        for row in rows:
            session_store.announce("session.updated", row)
        Label.objects.filter(sessions=None).delete()

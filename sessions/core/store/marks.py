"""What a person has seen or kept in a review (`ReviewMark`): a mark is on a content and goes with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.db import transaction

from sessions.core.ids import now
from sessions.core.models import ReviewMark, Session

from . import comments, ledger
from .comments import Thread

KINDS = ("viewed", "kept")


@dataclass(frozen=True, slots=True)
class Marks:
    """The keys that carry each mark in a session, and the comments on lines, by path."""

    viewed: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    comments: Mapping[str, tuple[Thread, ...]] = field(default_factory=dict)

    def of(self, kind: str) -> frozenset[str]:
        return self.kept if kind == "kept" else self.viewed


def of_session(session_id: str) -> Marks:
    found: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for kind, key in ReviewMark.objects.filter(session_id=session_id).values_list("kind", "key"):
        found[kind].add(key)
    return Marks(frozenset(found["viewed"]), frozenset(found["kept"]), comments.threads(session_id))


def put(session: Session, kind: str, *, add: Collection[str] = (), remove: Collection[str] = ()) -> None:
    """Set and take marks of one kind in one step; tells the pages of the session."""
    with transaction.atomic():
        ReviewMark.objects.filter(session=session, kind=kind, key__in=list(remove)).delete()
        rows = [ReviewMark(session=session, kind=kind, key=key, time_created=now()) for key in sorted(add)]
        ReviewMark.objects.bulk_create(rows, ignore_conflicts=True)
        ledger.changed(session)

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


def of_session(session_id: str, actor: str) -> Marks:
    """As somebody sees them; `actor` is empty where a server has one login."""
    found: dict[str, set[str]] = {kind: set() for kind in KINDS}
    rows = ReviewMark.objects.filter(session_id=session_id, actor__in={"", actor})
    for kind, key, of in rows.values_list("kind", "key", "actor"):
        if of == _owner(kind, actor):
            found[kind].add(key)
    return Marks(frozenset(found["viewed"]), frozenset(found["kept"]), comments.threads(session_id))


def put(
    session: Session,
    kind: str,
    actor: str,
    *,
    add: Collection[str] = (),
    remove: Collection[str] = (),
) -> None:
    """Set and take marks of one kind in one step, for `actor` as in `of_session`; tells the pages of the
    session."""
    owner, time = _owner(kind, actor), now()
    with transaction.atomic():
        ReviewMark.objects.filter(session=session, kind=kind, actor=owner, key__in=list(remove)).delete()
        rows = [
            ReviewMark(session=session, kind=kind, key=key, actor=owner, time_created=time)
            for key in sorted(add)
        ]
        ReviewMark.objects.bulk_create(rows, ignore_conflicts=True)
        ledger.changed(session)


def _owner(kind: str, actor: str) -> str:
    """What somebody has viewed they alone have; what is kept is kept for all."""
    return actor if kind == "viewed" else ""

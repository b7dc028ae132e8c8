"""How far an allow reaches, and which saved rules reach a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet

from sessions.core.ids import now
from sessions.core.models import Message, PermissionRequest, SavedRule, Session
from sessions.core.prepared import Prepared
from sessions.core.store.children import errand_of, is_busy
from sessions.core.store.family import lineage, topmost
from sessions.core.store.turns import last_prompt

SCOPES: Final = ("once", "turn", "session", "project", "minutes")
MOST_MINUTES: Final = 7 * 24 * 60


@dataclass(frozen=True, slots=True)
class Reach:
    """The columns of a rule that say how far it reaches."""

    session_id: str | None = None
    message_id: str = ""
    time_expires: int | None = None


def reach(row: PermissionRequest, scope: str, minutes: int) -> Reach | None:
    """How far a rule of this scope made at a request reaches; None where a call belongs to no turn.
    Subagents work within the turn and the session of the topmost session."""
    match scope:
        case "turn":
            session_id, prompt_id = _turn(row.session, row.message_id)
            return Reach(session_id, prompt_id) if prompt_id else None
        case "session":
            return Reach(topmost(row.session).id)
        case "minutes":
            return Reach(time_expires=now() + minutes * 60_000)
    return Reach()


_OF_PROJECT = Prepared(lambda project_id: SavedRule.objects.filter(project_id=project_id)[:1])


def in_force(session: Session, message_id: str) -> list[SavedRule]:
    """The saved rules that reach a call of a message now, oldest first."""
    if not _OF_PROJECT.rows(session.project_id):
        return []
    here = Q(session=None) | Q(session__in=lineage(session))
    found = list(_unexpired(session.project_id).filter(here))
    turn = _turn(session, message_id)[1] if any(rule.message_id for rule in found) else ""
    return [rule for rule in found if rule.message_id in ("", turn)]


def rules(project_id: str) -> list[SavedRule]:
    """All saved rules of a project that may still allow something, oldest first."""
    found = _unexpired(project_id).exclude(session__time_deleted__isnull=False).select_related("session")
    return [rule for rule in found if not is_over(rule)]


def sweep(project_id: str) -> None:
    """Drop the rules that can allow nothing any more; the audit still knows them."""
    SavedRule.every.filter(project_id=project_id, time_expires__lte=now()).delete()
    of_turns = SavedRule.every.filter(project_id=project_id).exclude(message_id="")
    SavedRule.every.filter(id__in=[rule.id for rule in of_turns if is_over(rule)]).delete()


def _unexpired(project_id: str) -> QuerySet[SavedRule]:
    moment = now()
    lasting = Q(time_expires=None) | Q(time_expires__gt=moment, time_created__lte=moment)
    return SavedRule.objects.filter(lasting, project_id=project_id).order_by("id")


def is_over(rule: SavedRule) -> bool:
    """Whether the time of a rule, or the turn it was made for, has ended. A rule for minutes ends, too, when
    the clock is put back to before it was made: nobody can tell then how long it was in force."""
    if rule.time_expires is not None and not rule.time_created <= now() < rule.time_expires:
        return True
    if not rule.message_id or rule.session_id is None:
        return False
    return last_prompt(rule.session_id) != rule.message_id or not is_busy(rule.session_id)


def _turn(session: Session, message_id: str) -> tuple[str, str]:
    """The session and the prompt of the turn that a message belongs to; empty when there is no such."""
    errand = errand_of(session)
    row = Message.objects.filter(id=errand.message_id if errand else message_id).first()
    if row is None:
        return "", ""
    return row.session_id, row.data.get("parentID") or row.id

"""How much a person may have at once and in a day, where a server has people and says so: turns, and what
they cost. A turn that runs goes on to its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime

from django.conf import settings
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext, ngettext

from sessions.core.models import Admission, AdmittedPrompt, Session, Spending


def are_set() -> bool:
    return bool(settings.PERSON_TURNS or settings.PERSON_COST)


def spend(session_id: str, cost: float) -> None:
    """Add US dollars to what the person spent today whose turn it is, if anybody's by a name; call it in the
    transaction that adds them to the session."""
    if actor := payer(session_id):
        row, _ = Spending.objects.get_or_create(actor=actor, day=_today())
        Spending.objects.filter(pk=row.pk).update(cost=F("cost") + cost)


def spent(actor: str) -> float:
    """US dollars, today."""
    return float(sum(Spending.objects.filter(actor=actor, day=_today()).values_list("cost", flat=True)))


def payer(session_id: str) -> str:
    """Who sent what a session works on: of a subagent's what the one above does. Empty for nobody by a
    name."""
    place: str | None = session_id
    while place:
        if actor := _in_work([place]).get(place):
            return actor
        place = Session.objects.filter(id=place).values_list("parent_id", flat=True).first()
    return ""


def payer_of(session_id: str, prompt_id: str) -> str:
    """The same once a prompt is promoted that waits."""
    sender = Admission.objects.filter(id=prompt_id).values_list("actor", flat=True).first()
    return sender or payer(session_id)


def refusal(actor: str) -> str:
    """Why a person's prompts are not taken today, in words; empty where they are."""
    if not settings.PERSON_COST or not actor:
        return ""
    cost = spent(actor)
    if cost < settings.PERSON_COST:
        return ""
    most = f"${settings.PERSON_COST:.2f}"
    return gettext(
        "%(actor)s has spent %(cost)s today; a person may spend %(most)s a day here. It goes on tomorrow."
    ) % {"actor": actor, "cost": f"${cost:.2f}", "most": most}


def held(session: Session) -> str:
    """Why the next turn of a session does not begin, in words; empty where no quota is in the way, as in that
    of a subagent."""
    if session.parent_id:
        return ""
    return _held(_next_of([session.id])[session.id], _running(but=session.id))


def admitted(session_ids: Iterable[str]) -> list[str]:
    """Of sessions that wait, in their order, those whose turn may begin beside those that run and those
    before it."""
    ids = list(session_ids)
    running, senders = _running(), _next_of(ids)
    found = []
    for id in ids:
        if not _held(senders[id], running):
            running[senders[id]] += 1
            found.append(id)
    return found


def _held(actor: str, running: Counter[str]) -> str:
    if not actor:
        return ""
    if settings.PERSON_TURNS and running[actor] >= settings.PERSON_TURNS:
        words = ngettext(
            "A person may have %(count)s turn at once here, and %(actor)s has; "
            "this one begins when one has ended.",
            "A person may have %(count)s turns at once here, and %(actor)s has; "
            "this one begins when one has ended.",
            settings.PERSON_TURNS,
        )
        return words % {"count": settings.PERSON_TURNS, "actor": actor}
    return refusal(actor)


def _running(but: str = "") -> Counter[str]:
    """How many turns run, by whose they are; not those of subagents."""
    rows = Session.objects.filter(parent=None, time_deleted=None).exclude(lease_owner="").exclude(id=but)
    return Counter(filter(None, _in_work(rows.values_list("id", flat=True)).values()))


def _in_work(session_ids: Collection[str] | QuerySet[Session, str]) -> dict[str, str]:
    """By session who sent the newest prompt that no longer waits."""
    waiting = AdmittedPrompt.objects.filter(session=OuterRef("session"))
    newest = (
        Admission.objects.filter(session=OuterRef("pk"), no_reply=False)
        .exclude(Q(actor="") | Q(id__in=waiting.values("id")))
        .order_by("-time_created", "-id")
    )
    rows = Session.objects.filter(id__in=session_ids).annotate(sender=Subquery(newest.values("actor")[:1]))
    return {id: sender or "" for id, sender in rows.values_list("id", "sender")}


def _next_of(session_ids: Collection[str]) -> dict[str, str]:
    """By session who sent the prompt that is next; of a turn that goes on, the one that it is in answer
    to."""
    prompts: dict[str, AdmittedPrompt] = {}
    waiting = AdmittedPrompt.objects.filter(session__in=session_ids).only("session_id", "delivery")
    for row in waiting.order_by("-position"):
        known = prompts.get(row.session_id)
        if known is None or row.delivery == "steer" or known.delivery != "steer":
            prompts[row.session_id] = row
    found = _in_work(session_ids)
    ids = [row.id for row in prompts.values()]
    senders = dict(Admission.objects.filter(id__in=ids).values_list("id", "actor"))
    return {id: senders.get(prompts[id].id, "") if id in prompts else found.get(id, "") for id in session_ids}


def _today() -> str:
    """By the clock of the server's place."""
    return datetime.now().astimezone().date().isoformat()

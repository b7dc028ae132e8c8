"""Turns that were cut off, and what is to become of them.

Only the last turn of a topmost session can be gone on with: what a subagent left is gone on with by the call
that sent it. See docs/decisions/0020-resume.md.
"""

from __future__ import annotations

from typing import Literal, cast

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext

from sessions.core.models import Message, Resumption, Session
from sessions.core.prepared import Prepared
from sessions.core.wire.messages import UserMessage

from .rows import message_info

MOST_TRIES = 2
"""How often one turn goes on by itself: it may be what ends the server."""

State = Literal["cut", "due", ""]
_WAITING = ("cut", "due")
_BEGUN = "begun"
"""Not cleared by the next answer of the turn: it counts while there is none."""


class NothingToResume(Exception):
    """The last turn was not cut off, or something runs; the text is for the person who asked."""


def note(prompt_id: str, state: State) -> None:
    """The turn of a prompt was cut off."""
    Resumption.objects.update_or_create(prompt_id=prompt_id, defaults={"state": state})


def begin_anew(prompt_id: str) -> None:
    """The server ended before anybody began to answer a prompt: it is due, until after MOST_TRIES."""
    row, _ = Resumption.objects.get_or_create(prompt_id=prompt_id)
    again = row.tries < MOST_TRIES
    row.state, row.tries = "due" if again else "", row.tries + again
    row.save(update_fields=["state", "tries"])


def of(session: Session) -> Resumption | None:
    """Of the turn that the session can go on with, if there is one. `session` is a row as it is now."""
    if session.parent_id or session.revert or (session.status or {}).get("type", "idle") != "idle":
        return None
    prompt_id = _cut_off(session.id)
    return Resumption.objects.filter(prompt_id=prompt_id).first() if prompt_id else None


def _cut_off(session_id: str) -> str:
    """The prompt of the last turn, if nobody answered it or the last answer to it ended in an error."""
    row = Message.objects.filter(session_id=session_id).order_by("-id").first()
    if row is None or row.role == "user":
        return row.id if row else ""
    return str(row.data.get("parentID", "")) if row.data.get("error") else ""


def ask(session_id: str) -> None:
    """The session is to go on with its last turn. Raises NothingToResume."""
    with transaction.atomic():
        session = Session.objects.select_for_update().filter(id=session_id, time_deleted=None).first()
        found = of(session) if session else None
        if found is None:
            raise NothingToResume(gettext("There is no turn here that was cut off and could go on."))
        found.state = "due"
        found.save(update_fields=["state"])


def withdraw(session_id: str) -> bool:
    """What is due in a session is so no longer: it was stopped. Whether anything was."""
    rows = Resumption.objects.filter(prompt__session_id=session_id)
    waited = rows.filter(state__in=_WAITING).update(state="")
    rows.filter(state=_BEGUN).update(state="")
    return bool(waited)


def cut_anew(session_id: str) -> None:
    """The server ended after a turn was begun that goes on, and before there was an answer of it."""
    Resumption.objects.filter(prompt_id=_cut_off(session_id), state=_BEGUN).update(state="cut")


def undecided() -> list[Session]:
    """Sessions with a turn that the server cut off, and nobody has decided whether it goes on by itself."""
    return list(_free().filter(messages__resumption__state="cut").distinct())


def decide(session_id: str, *, automatic: bool) -> None:
    """Whether a turn that the server cut off goes on by itself, for the last time after MOST_TRIES."""
    rows = Resumption.objects.filter(prompt__session_id=session_id, state="cut")
    if automatic:
        rows.filter(tries__lt=MOST_TRIES).update(state="due", tries=F("tries") + 1)
    rows.update(state="")


def sessions_due() -> list[str]:
    """Ids of sessions that are to go on and that no worker holds."""
    return list(_free().filter(messages__resumption__state="due").values_list("id", flat=True).distinct())


def state(session_id: str) -> State:
    """What waits in a session to be decided or done."""
    row = _UNDONE.first(session_id)
    return cast(State, row.state) if row else ""


_UNDONE = Prepared(
    lambda session_id: Resumption.objects.filter(prompt__session_id=session_id, state__in=_WAITING).order_by(
        "-prompt_id"
    )[:1]
)


def begin(session_id: str) -> tuple[UserMessage, int] | None:
    """The prompt of the turn that is due, which it no longer is then, and the steps that the turn has taken;
    None when there is none, or no longer."""
    with transaction.atomic():
        rows = Resumption.objects.select_for_update().filter(prompt__session_id=session_id, state="due")
        due = list(rows.values_list("prompt_id", flat=True))
        rows.update(state="")
        session = Session.objects.filter(id=session_id).first() if due else None
        found = of(session) if session else None
        if found is None or found.prompt_id not in due:
            return None
        Resumption.objects.filter(prompt_id=found.prompt_id).update(state=_BEGUN)
    prompt = message_info(found.prompt)
    assert isinstance(prompt, UserMessage)
    steps = Message.objects.filter(session_id=session_id, id__gt=prompt.id, role="assistant")
    return prompt, steps.count()


def _free() -> QuerySet[Session]:
    """Those that no worker holds."""
    return Session.objects.filter(time_deleted=None, lease_owner="")

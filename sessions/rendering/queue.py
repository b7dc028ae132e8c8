"""The prompts that wait, as the page lists them above the composer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.gate import gate
from sessions.core.models import Admission, AdmittedPrompt, Session
from sessions.core.store import inbox, line, quotas, shells

from .html import html

MOST_SHOWN = 300
"""Characters of a prompt; editing shows the whole."""

COMPACTION = gettext_noop("Compact the conversation")
FOLLOW_UP = gettext_noop("A tool goes on with its work")


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row: `own` is what a person wrote or attached; `place` counts within its delivery; `sender` is who
    sent it, where a server has people."""

    id: str
    delivery: str
    text: str
    attached: int
    own: bool
    editable: bool
    place: int
    of: int
    sender: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """A prompt that was taken back before the model was asked."""

    id: str
    text: str
    attached: int


def queue(session: Session, *, oob: bool = True) -> str:
    rows = inbox.waiting(session.id)
    steering = [row for row in rows if row.delivery == "steer"]
    queued = [row for row in rows if row.delivery != "steer"]
    senders = inbox.senders(session.id) if rows else {}
    prompts = [*_listed(steering, senders), *_listed(queued, senders)]
    stopped = [_stopped(row) for row in inbox.stopped(session.id)]
    held, why = _why(session) if prompts else ("", "")
    return html(
        "conversation/queue.html",
        prompts=prompts,
        stopped=stopped,
        short=_short(len(stopped), len(prompts), held),
        why=why,
        session=session,
        oob=oob,
    )


def _why(session: Session) -> tuple[str, str]:
    """Why they wait, where it is not for the turn that runs in the session: in two or three words, and in
    more."""
    now = Session.objects.get(id=session.id)
    if now.lease_owner:
        return "", ""
    found = gate(now.project_id)
    if found.closed or found.waiting:
        return gettext("held up"), found.closed or found.waiting
    if quotas.are_set() and (held := quotas.held(now)):
        return gettext("held up"), held
    place = line.place(now) if settings.MOST_TURNS else 0
    if not place:
        return "", ""
    return (
        gettext("place %(place)s in line") % {"place": place},
        gettext("As many turns run as may at once; this one begins when one has ended."),
    )


def _short(stopped: int, waiting: int, held: str) -> str:
    """How many there are, and what holds them, in few words."""
    words = [gettext("%(count)s stopped") % {"count": stopped}] if stopped else []
    if waiting:
        words.append(ngettext("%(count)s waits", "%(count)s wait", waiting) % {"count": waiting})
    return " · ".join([*words, *([held] if held else [])])


def _stopped(row: Admission) -> Stopped:
    parts: list[dict[str, Any]] = row.stopped or []
    text = " ".join(part.get("text", "") for part in parts if inbox.is_written(part))
    return Stopped(row.id, text[:MOST_SHOWN], inbox.attached(parts))


def _listed(rows: Sequence[AdmittedPrompt], senders: Mapping[str, str]) -> list[Waiting]:
    return [_waiting(row, place, len(rows), senders.get(row.id, "")) for place, row in enumerate(rows, 1)]


def _waiting(row: AdmittedPrompt, place: int, of: int, sender: str) -> Waiting:
    kinds = {part["type"] for part in row.parts if not part.get("synthetic")} - {"compaction"}
    text = " ".join(part.get("text", "") for part in row.parts if inbox.is_written(part))
    command = next(filter(None, map(shells.command_of, row.parts)), "")
    if command:
        text = f"$ {command}"
    elif not kinds:
        compacts = any(part["type"] == "compaction" for part in row.parts)
        text = gettext(COMPACTION if compacts else FOLLOW_UP)
    elif "subtask" in kinds:
        tasks = [part for part in row.parts if part["type"] == "subtask"]
        text = text or " ".join(part.get("description", "") for part in tasks)
    return Waiting(
        id=row.id,
        delivery=row.delivery,
        text=text[:MOST_SHOWN],
        attached=inbox.attached(row.parts),
        own=bool(kinds or command),
        editable=bool(kinds) and "subtask" not in kinds,
        place=place,
        of=of,
        sender=sender,
    )

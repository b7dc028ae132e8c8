"""What the page shows beside the messages; each fragment is read from the rows when it is rendered.

A function takes a session and gives the HTML of its fragment, marked for an out-of-band swap
unless `oob` is False.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import Any, Final

from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.above import agents
from sessions.core.endings import ending_of
from sessions.core.ids import now
from sessions.core.models import Label, Message, Part, Project, Session
from sessions.core.store import (
    family,
    labels,
    permissions,
    questions,
    resumption,
    session_folders,
    todos,
    turns,
)
from sessions.core.store import sessions as session_store
from sessions.rendering.html import html
from sessions.rendering.messages import undone_from
from sessions.rendering.periods import Period, period_of

GROUPS: Final = {
    "pinned": gettext_noop("Pinned"),
    "waiting": gettext_noop("Waiting for you"),
    "working": gettext_noop("Running"),
}
"""What the list of sessions begins with, before all periods."""
MOST_LISTED = 200
LIST_NEWS: Final = '<span id="list-news" hidden hx-swap-oob="true"></span>'
"""When it arrives by the socket, the page asks for the list anew."""


def state_of(session: Session, waiting: bool) -> str:
    """`working`, `waiting` (for the person), or how the last turn ended: `idle` (in order), `stopped` by the
    person, `interrupted` or `failed`."""
    if waiting:
        return "waiting"
    if _busy(session):
        return "working"
    return ending_of(session.error) if session.error else "idle"


STATES: Final = {
    "working": gettext_noop("working"),
    "waiting": gettext_noop("waiting for you"),
    "idle": gettext_noop("idle"),
    "stopped": gettext_noop("stopped by you"),
    "interrupted": gettext_noop("interrupted"),
    "failed": gettext_noop("failed"),
}
"""What each of them is called; in the list each has a shape of its own as well."""


def group_of(session: Session, state: str) -> str:
    """The key in GROUPS of where a session is listed, or the id of its folder, the first that fits; empty: by
    its last use."""
    if session.time_pinned:
        return "pinned"
    return session.session_folder_id or (state if state in GROUPS else "")


def _order(session: Session) -> int:
    """What a session comes by in its place of the list, high to low: those that are pinned, or in a folder,
    stay still."""
    filed = session.time_filed if session.session_folder_id else None
    return session.time_pinned or filed or session.used


def sidebar_list(
    project: Project,
    *,
    current: str = "",
    search: str = "",
    archived: bool = False,
    label: str = "",
    zone: tzinfo = UTC,
) -> SafeString:
    """The sessions of a project by GROUPS and folders, and the others, newest use first, by periods as days
    begin in `zone`; with a `label` those that have it. A subagent's is listed as the topmost above it."""
    wanted: dict[str, Any] = {"roots": True, "search": search, "archived": archived, "limit": MOST_LISTED}
    wanted |= {"label": label}
    last = session_store.listing(project, **wanted)
    pinned = sorted(session_store.listing(project, pinned=True, **wanted), key=_order, reverse=True)
    filed = sorted(session_store.listing(project, filed=True, **wanted), key=_order, reverse=True)
    waiting = {request.session_id for request in permissions.pending(project_id=project.id)}
    waiting |= {request.session_id for request in questions.pending(project_id=project.id)}
    above = family.roots(waiting)
    placed = {row.id: row for row in (*pinned, *filed)}
    labelled = labels.by_session([*placed, *(row.id for row in last)])
    moment = now()
    periods: dict[Period, list[dict[str, Any]]] = {period_of(moment, moment, zone): []}
    folders = session_folders.of_project(project.id)
    keys = (*GROUPS, *(folder.id for folder in folders))
    groups: dict[str, list[dict[str, Any]]] = {key: [] for key in keys}
    for row in [*placed.values(), *(row for row in last if row.id not in placed)]:
        item = _item(row, row.id in above, labelled.get(row.id, ()))
        group = item["group"]
        listed = groups[group] if group else periods.setdefault(period_of(row.used, moment, zone), [])
        listed.append(item)
    return html(
        "sidebar/list.html",
        groups=[(group, gettext(GROUPS[group]), groups[group]) for group in GROUPS],
        folders=[(one, groups[one.id], one.folded and not search and not label) for one in folders],
        periods=periods.items(),
        current="".join(family.roots([current] if current else [])),
        project=project,
        search=search,
        archived=archived,
        labels=labels.of_project(project.id),
        label=label,
    )


def sidebar_item(session_id: str, project_id: str, *, current: str = "", oob: bool = True) -> str:
    """One session of the list of a project; empty for one the list does not show."""
    session = session_store.get(session_id)
    if session is None or session.parent_id or session.time_archived or session.project_id != project_id:
        return ""
    waiting = permissions.pending_below(session_id) or questions.pending_below(session_id)
    own = labels.by_session([session_id]).get(session_id, ())
    return html("sidebar/item.html", item=_item(session, bool(waiting), own), current=current, oob=oob)


def _item(session: Session, waiting: bool, own: Sequence[Label]) -> dict[str, Any]:
    state = state_of(session, waiting)
    return {
        "session": session,
        "state": state,
        "words": gettext(STATES[state]),
        "group": group_of(session, state),
        "order": _order(session),
        "labels": own,
    }


def head(session: Session, *, oob: bool = True, focus: bool = False) -> str:
    """The title, with `focus` for whoever has just left its field."""
    return html("conversation/head.html", session=session, oob=oob, focus=focus)


def activity(session: Session, *, oob: bool = True) -> str:
    """Send and Stop."""
    return html("composer/activity.html", session=session, busy=_busy(session), oob=oob)


def working(session: Session, *, oob: bool = True) -> str:
    """Below the messages: that the agent works, or when a turn is tried again."""
    status = session.status or {}
    retry = status if status.get("type") == "retry" else None
    told = retry is not None and _is_told(session, str(retry.get("message", "")))
    busy = _busy(session)
    return html(
        "conversation/working.html",
        session=session,
        busy=busy,
        begun=turns.begun(session.id) if busy else None,
        retry=retry,
        told=told,
        oob=oob,
    )


def _is_told(session: Session, reason: str) -> bool:
    """Whether the conversation ends with this reason, as that of the attempts which failed."""
    last = Part.objects.filter(session_id=session.id).order_by("-id").first()
    return last is not None and last.type == "retry" and last.data["error"]["data"].get("message") == reason


def resume(session: Session, *, oob: bool = True) -> str:
    """Below the messages: the way to go on with a turn that was cut off, or to try again one that failed."""
    offered = resumption.of(session) is not None and agents().resume_mode(session.directory) != "off"
    failed = session.error is not None and ending_of(session.error) == "failed"
    others = _others(session) if offered and failed else []
    return html(
        "conversation/resume.html", session=session, offered=offered, failed=failed, others=others, oob=oob
    )


def _others(session: Session) -> list[tuple[str, str]]:
    return agents().other_models(session.directory, session.agent, session.provider_id, session.model_id)


def _busy(session: Session) -> bool:
    return bool((session.status or {}).get("type", "idle") != "idle")


def todo_panel(session: Session, *, oob: bool = True) -> str:
    """The todos of the last turn, while some are left; folded, and to be dismissed, once it has ended."""
    rows = todos.listing(session.id)
    done = sum(row.ended for row in rows)
    shown = done < len(rows) and turns.has_called(session.id, "todowrite")
    return html(
        "conversation/todos.html",
        session=session,
        todos=rows if shown else (),
        done=done,
        busy=_busy(session),
        oob=oob,
    )


def sandbox_ports(session: Session, *, oob: bool = True) -> str:
    """What programs in the session's sandbox listen on, and the way there."""
    return html("sandbox/ports.html", session=session, ports=agents().ports(session.id), oob=oob)


def reverted(session: Session, *, oob: bool = True) -> str:
    """The notice that part of the conversation is undone, with the way back."""
    start = undone_from(session.revert)
    prompts: list[str] = []
    if start:
        undone = Message.objects.filter(session=session, id__gte=start, role="user").order_by("id")
        prompts = list(undone.values_list("id", flat=True))
    return html(
        "conversation/reverted.html",
        session=session,
        start=start,
        count=len(prompts),
        prompt=prompts[0] if prompts else "",
        oob=oob,
    )

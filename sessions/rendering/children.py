"""Subagents on the page: the card of an errand in the session above, the way between the two sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from sessions.core.endings import call_error
from sessions.core.models import Session
from sessions.core.store import children
from sessions.core.store.family import lineage
from sessions.core.text import bounded, visible

from .blocks import render_whole
from .html import html
from .tools import KINDS, card, relative

Wire = Mapping[str, Any]
_SESSION = re.compile(r"ses_[0-9A-Za-z]{1,28}")


@dataclass(frozen=True, slots=True)
class Errand:
    """What `templates/tools/task.html` shows of a `task` call beside its card.

    `state` is preparing, working, waiting (for the person), done, failed or stopped; `url` is the subagent's
    session, empty until there is one; `now` is what it does at the moment.
    """

    agent: str
    state: str
    url: str
    now: str
    calls: int
    tokens: int


def errand_html(part: Wire, *, root: str, base: str, oob: bool) -> SafeString:
    """The card of a `task` call; its state is in the part's metadata, so it is there after a reload too."""
    shown = card(part, root)
    return html("tools/task.html", card=shown, task=errand(part, root, base), base=base, oob=oob)


def errand(part: Wire, root: str, base: str) -> Errand:
    state = part["state"]
    metadata = state.get("metadata") or {}
    data = state.get("input") or {}
    return Errand(
        agent=visible(str(metadata.get("agent") or data.get("subagent_type") or "subagent"))[:60],
        state=_state(state, metadata),
        url=_url(metadata.get("sessionId"), base),
        now=_now(metadata, root) if state["status"] == "running" else "",
        calls=_count(metadata.get("calls")),
        tokens=_count(metadata.get("tokens")),
    )


def errand_output(part: Wire) -> SafeString:
    """What the subagent was told, and what it came back with."""
    state = part["state"]
    output = str(state.get("output") or "")
    _, opened, rest = output.partition("<task_result>\n")
    result, closed, _ = rest.rpartition("\n</task_result>")
    return html(
        "tools/task_output.html",
        prompt=bounded(visible(str((state.get("input") or {}).get("prompt", "")))),
        result=mark_safe(render_whole(result if opened and closed else output)),  # noqa: S308 (sanitised)
        error=call_error(state),
    )


def family(session: Session, *, oob: bool = True) -> str:
    """The way up from a subagent's session, and down to those of the subagents a session sent."""
    return html(
        "conversation/family.html",
        session=session,
        parent=session.parent,
        children=children.listing(session.id),
        oob=oob,
    )


def _state(state: Wire, metadata: Wire) -> str:
    match state["status"]:
        case "pending":
            return "preparing"
        case "running":
            return "waiting" if metadata.get("waiting") else "working"
        case "completed":
            return "done"
    return "stopped" if metadata.get("interrupted") or metadata.get("stopped") else "failed"


def _url(session_id: object, base: str) -> str:
    known = isinstance(session_id, str) and _SESSION.fullmatch(session_id)
    return f"{base.rpartition('/')[0]}/{session_id}" if known else ""


def _now(metadata: Wire, root: str) -> str:
    """The call that runs, or the last one there was: `Search  TODO`."""
    listed = metadata.get("summary")
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    if not calls:
        return ""
    running = (call for call in reversed(calls) if _inner(call).get("status") in ("pending", "running"))
    call = next(running, calls[-1])
    tool = str(call.get("tool", ""))
    label = gettext(KINDS[tool].label) if tool in KINDS else tool
    return visible(f"{label} {relative(str(_inner(call).get('title') or ''), root)}".strip())[:200]


def _inner(call: Wire) -> Wire:
    state = call.get("state")
    return state if isinstance(state, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def origin(session: Session, shown: Session | None = None) -> str:
    """Who asks, on the page of the session `shown` or anywhere: the subagent by the title of its session, and
    those that sent it; empty where it is none."""
    above = lineage(session)[:-1]
    if shown in above:
        above = above[: above.index(shown)]
    names = [visible(each.title) for each in above]
    if not names:
        return ""
    told = names.pop()
    for name in reversed(names):
        told = gettext("%(name)s, sent by %(above)s") % {"name": name, "above": told}
    return told

"""Questions of the agent as forms, and as what was answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.endings import call_cut_off, call_error
from sessions.core.models import QuestionRequest, Session
from sessions.core.store import questions
from sessions.core.text import visible
from sessions.core.wire.questions import QuestionInfo

from .children import origin
from .html import html
from .plan import ASKS, plan_html

TOOLS = frozenset({"question", ASKS, "plan_enter"})
"""Tools whose card is what was asked and answered. Questions of other tools are an MCP server's."""

_HEADINGS = {ASKS: gettext_noop("The plan is ready"), "plan_enter": gettext_noop("Make a plan first?")}
_NAMES = {ASKS: gettext_noop("End plan mode"), "plan_enter": gettext_noop("Enter plan mode")}
_QUESTION = gettext_noop("Question")
_STOPS = gettext_noop("The agent is told that you do not answer, and stops")
_DECLINES = gettext_noop("The server is told that you decline; the turn goes on")
_LINK = re.compile(r"^(https?://\S+)$", re.MULTILINE)
_ICONS = {ASKS: "list", "plan_enter": "list"}


@dataclass(frozen=True, slots=True)
class Choice:
    label: str
    description: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as `templates/questions/question.html` shows it; `link` is an address that the person is
    asked to open."""

    header: str
    text: str
    link: str
    choices: Sequence[Choice]
    multiple: bool
    custom: bool
    answer: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What `templates/questions/request.html` shows; `key` is the id of its element, `origin` names the
    session below that asks.
    """

    id: str
    key: str
    call_id: str
    title: str
    icon: str
    questions: Sequence[Asked]
    origin: str
    plan: SafeString
    dismissal: str
    """What follows from giving no answer."""


def question_list(session: Session, *, oob: bool = True) -> str:
    """What waits for an answer, of this session and of those it started."""
    requests = [request(row, session) for row in questions.pending_below(session.id)]
    return html("questions/list.html", requests=requests, oob=oob)


def request(row: QuestionRequest, session: Session, place: str = "") -> Request:
    """One request as it is shown on the page of a session (its own, or one above it); `place` goes before the
    ids of its elements."""
    asked = [_asked(question) for question in questions.questions_of(row)]
    of_server = row.tool not in TOOLS
    several = gettext("A question for you") if len(asked) == 1 else gettext("Questions for you")
    title = gettext(_HEADINGS[row.tool]) if row.tool in _HEADINGS else several
    return Request(
        id=row.id,
        key=f"{place}{row.id}",
        call_id=row.call_id,
        title=title,
        icon=_ICONS.get(row.tool, "plug" if of_server else "ask"),
        questions=asked,
        origin=origin(row.session, session),
        plan=plan_html(row.session) if row.tool == ASKS else SafeString(),
        dismissal=gettext(_DECLINES if of_server else _STOPS),
    )


def answered_html(part: Mapping[str, Any], *, oob: bool = False) -> SafeString:
    """The card of a call that asked: each question with its answer, whatever came of it."""
    state = part["state"]
    metadata = state.get("metadata") or {}
    given = metadata.get("answers") or []
    asked = [
        _asked(question, given[index] if index < len(given) else ())
        for index, question in enumerate(
            _questions(metadata.get("questions") or (state.get("input") or {}).get("questions"))
        )
    ]
    return html(
        "tools/question.html",
        part=part,
        title=gettext((_HEADINGS if asked else _NAMES).get(part["tool"], _QUESTION)),
        icon=_ICONS.get(part["tool"], "ask"),
        questions=asked,
        status=state["status"],
        error=call_error(state),
        cut_off=gettext(call_cut_off(metadata)),
        oob=oob,
    )


def _questions(found: object) -> list[QuestionInfo]:
    """Those that the model wrote well enough to be asked."""
    known = []
    for item in found if isinstance(found, list) else ():
        try:
            known.append(QuestionInfo.model_validate(item))
        except ValueError:
            continue
    return known


def _asked(question: QuestionInfo, answer: Sequence[str] = ()) -> Asked:
    text = visible(question.question)
    link = _LINK.search(text)
    return Asked(
        header=visible(question.header),
        text=text.replace(link[0], "", 1).rstrip() if link else text,
        link=link[0] if link else "",
        choices=[Choice(visible(item.label), visible(item.description)) for item in question.options],
        multiple=bool(question.multiple),
        custom=question.custom is not False,
        answer=[visible(str(text)) for text in answer],
    )

"""Moments beside the conversation: permissions and questions, subagents, forks."""

from __future__ import annotations

from collections.abc import Iterator

from sessions.core.models import Decision, PermissionRequest, QuestionRequest, Session
from sessions.core.store import children, forks
from sessions.core.store.permissions import family

from .moments import Moment

_ANSWERS = {
    "pending": "Waits for an answer",
    "once": "Allowed",
    "always": "Allowed",
    "reject": "Rejected",
    "cancelled": "No longer asked: the turn ended first, or it was asked anew",
    "answered": "Answered",
    "rejected": "Not answered",
}
_BY = {
    "person": "by a person",
    "rule": "by a saved rule",
    "plugin": "by a plugin",
    "configuration": "by the configuration",
    "review": "in review mode",
    "stop": "by a stop",
    "call": "with the call",
}
_REACH = {
    "once": "once",
    "turn": "for this turn",
    "session": "for this session",
    "project": "for this project",
    "minutes": "for a while",
}


def other_moments(session: Session) -> Iterator[Moment]:
    """Requests of subagents are asked in their topmost session, so they are there too."""
    names = dict(Session.objects.filter(id__in=family(session.id)).values_list("id", "title"))
    yield from _permissions(session, names)
    yield from _refusals(session, names)
    yield from _questions(session, names)
    for child in children.listing(session.id):
        url = child.get_absolute_url()
        yield Moment(child.id, "agent", child.time_created, "Subagent", child.title, url=url)
    yield from _forks(session)


def _permissions(session: Session, names: dict[str, str]) -> Iterator[Moment]:
    audit = Decision.objects.filter(session_id__in=names).exclude(request_id="")
    decided = {row.request_id: row for row in audit.order_by("id")}
    rows = PermissionRequest.objects.filter(session_id__in=names).defer("metadata", "replacement")
    for row in rows.order_by("id"):
        yield Moment(
            key=row.id,
            kind="ask",
            time=row.time_created,
            title=f"Permission: {row.permission}",
            detail=", ".join(row.patterns)[:300],
            note=_joined(_answer(row, decided.get(row.id)), _whose(row.session_id, session, names)),
            message=row.message_id if row.session_id == session.id else "",
            took=row.time_answered - row.time_created if row.time_answered else None,
            tone="warn" if row.state in ("pending", "reject") else "",
        )


def _answer(row: PermissionRequest, decision: Decision | None) -> str:
    """Answered by whom and how: the audit knows best, the request itself else."""
    said = f"“{row.words[:200]}”" if row.words else ""
    if decision is None:
        return _joined(_ANSWERS.get(row.state, row.state), f"by {row.actor}" if row.actor else "", said)
    by = f"by {decision.actor}" if decision.actor else _BY.get(decision.by, f"by {decision.by}")
    reach = _REACH.get(decision.scope, "") if decision.verdict == "allow" else ""
    return _joined(" ".join(filter(None, [_ANSWERS.get(row.state, row.state), reach, by])), said)


def _refusals(session: Session, names: dict[str, str]) -> Iterator[Moment]:
    """Calls that were denied without a question."""
    rows = Decision.objects.filter(session_id__in=names, verdict="deny", request_id="").order_by("id")
    for row in rows:
        by = _BY.get(row.by, row.by)
        yield Moment(
            key=f"dec-{row.pk}",
            kind="ask",
            time=row.time_created,
            title=f"Denied: {row.permission}",
            detail=", ".join(row.patterns)[:300],
            note=_joined(f"{by} {row.rule}".strip(), _whose(row.session_id, session, names)),
            tone="warn",
        )


def _questions(session: Session, names: dict[str, str]) -> Iterator[Moment]:
    for row in QuestionRequest.objects.filter(session_id__in=names).order_by("id"):
        said = "; ".join(", ".join(answer) for answer in row.answers if answer)[:300]
        yield Moment(
            key=row.id,
            kind="ask",
            time=row.time_created,
            title="Question",
            detail=" / ".join(str(question.get("question", "")) for question in row.questions)[:300],
            note=_joined(_ANSWERS.get(row.state, row.state), said, _whose(row.session_id, session, names)),
            message=row.message_id if row.session_id == session.id else "",
            took=row.time_answered - row.time_created if row.time_answered else None,
            tone="warn" if row.state == "pending" else "",
        )


def _forks(session: Session) -> Iterator[Moment]:
    if session.forked_from is not None:
        source = session.forked_from
        url = "" if source.time_deleted else source.get_absolute_url()
        key, begun = f"{session.id}-begin", session.time_created
        yield Moment(key, "fork", begun, "Forked from", source.title, url=url)
    for fork in forks.listing(session.id):
        where = "in a worktree" if fork.project_id != session.project_id else ""
        yield Moment(
            fork.id, "fork", fork.time_created, "Fork", fork.title, where, url=fork.get_absolute_url()
        )


def _whose(session_id: str, session: Session, names: dict[str, str]) -> str:
    return "" if session_id == session.id else f"asked by {names[session_id][:100]}"


def _joined(*pieces: str) -> str:
    return " · ".join(piece for piece in pieces if piece)

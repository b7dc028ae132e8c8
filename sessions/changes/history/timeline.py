"""The timeline of a session, read from the rows. Runs on the ORM's thread."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Substr
from django.utils.translation import gettext, pgettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.history.entries import CallEntry, Origin, by_call, files_of, of_session, title
from sessions.changes.history.moments import KINDS, Kind, Moment, Touched
from sessions.changes.roots import Roots, roots_of
from sessions.core.endings import cut_off_words, ending_of, error_words
from sessions.core.models import (
    Decision,
    FileChange,
    Message,
    Operation,
    Part,
    PermissionRequest,
    QuestionRequest,
    Session,
)
from sessions.core.models.ledger import shown
from sessions.core.sentences import translate
from sessions.core.store import children, family, forks, waits

WORDS = 300
"""Characters of a prompt that are read for its line."""

_NOT = object()  # of a prompt that asks for no compaction


def conversation_moments(session: Session) -> list[Moment]:
    """From the messages there are; what an undo or a new prompt removed is known by its undo alone."""
    prompts = {row["id"]: _turn(row) for row in _prompts(session.id)}
    endings = []
    for message_id, data in _answers(session.id):
        turn = prompts.get(data.get("parentID", ""))
        if turn is not None:
            _add(turn, data)
        if data.get("error"):
            endings.append(_ending(message_id, data))
    waited = waits.of(session.id)
    for turn in prompts.values():
        if turn.took is not None:
            turn.took -= waits.within(waited, turn.time, turn.time + turn.took)
    found = [*prompts.values(), *endings]
    undone_from = (session.revert or {}).get("messageID")
    for moment in found:
        if undone_from and moment.message >= undone_from:
            moment.note = " · ".join(filter(None, [moment.note, "undone"]))
    return found


def _prompts(session_id: str) -> Iterator[dict[str, Any]]:
    """Prompts with the beginning of their text. Their rows hold diffs of whole turns, which are not read."""
    rows = Message.objects.filter(session_id=session_id, role="user").order_by("id")
    texts = _texts(session_id)
    asked = Part.objects.filter(session_id=session_id, type="compaction")
    compactions = dict(asked.values_list("message_id", "data__auto"))
    for row in rows.values("id", "time_created", "data__agent", "data__model__modelID"):
        yield {**row, "text": texts.get(row["id"], ""), "compaction": compactions.get(row["id"], _NOT)}


def _texts(session_id: str) -> dict[str, str]:
    rows = Part.objects.filter(session_id=session_id, type="text", message__role="user").order_by("-id")
    text = Substr(KeyTextTransform("text", "data"), 1, WORDS)
    found = rows.annotate(words=text).values_list("message_id", "words", "data__synthetic")
    return {message_id: words or "" for message_id, words, synthetic in found if not synthetic}


def _turn(row: Mapping[str, Any]) -> Moment:
    asked = row["compaction"] is not _NOT
    title = gettext("Prompt")
    if asked:
        title = gettext("Compaction, by itself") if row["compaction"] else gettext("Compaction, asked for")
    return Moment(
        key=row["id"],
        kind="compaction" if asked else "turn",
        time=row["time_created"],
        title=title,
        detail=row["text"] or ("" if asked else gettext("(no text)")),
        note=" · ".join(str(row[name]) for name in ("data__agent", "data__model__modelID") if row[name]),
        message=row["id"],
    )


def _answers(session_id: str) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = Message.objects.filter(session_id=session_id, role="assistant").order_by("id")
    return rows.values_list("id", "data").iterator()


def _add(turn: Moment, answer: Mapping[str, Any]) -> None:
    """What one answer adds to its turn: time and cost."""
    turn.cost += answer.get("cost") or 0.0
    completed = (answer.get("time") or {}).get("completed")
    if completed:
        turn.took = max(turn.took or 0, completed - turn.time)


def _ending(message_id: str, data: Mapping[str, Any]) -> Moment:
    error = data["error"]
    words = error_words(error)
    cut_off = cut_off_words(error)
    time = data.get("time") or {}
    return Moment(
        key=f"{message_id}-end",
        kind="ending",
        time=time.get("completed") or time.get("created", 0),
        title=translate(cut_off or words["title"]),
        detail="" if cut_off else translate(words["detail"]),
        message=message_id,
        tone="" if ending_of(error) == "stopped" else "warn",
    )


_ANSWERS = {
    "pending": gettext_noop("Waits for an answer"),
    "once": gettext_noop("Allowed"),
    "always": gettext_noop("Allowed"),
    "reject": gettext_noop("Rejected"),
    "cancelled": gettext_noop("No longer asked: the turn ended first, or it was asked anew"),
    "answered": gettext_noop("Answered"),
    "rejected": gettext_noop("Not answered"),
}
_BY = {
    "person": gettext_noop("by a person"),
    "rule": gettext_noop("by a saved rule"),
    "plugin": gettext_noop("by a plugin"),
    "configuration": gettext_noop("by the configuration"),
    "review": gettext_noop("in review mode"),
    "stop": gettext_noop("by a stop"),
    "call": gettext_noop("with the call"),
}
_REACH = {
    "once": gettext_noop("once"),
    "turn": gettext_noop("for this turn"),
    "session": gettext_noop("for this session"),
    "project": gettext_noop("for this project"),
    "minutes": gettext_noop("for a while"),
}


def other_moments(session: Session) -> Iterator[Moment]:
    """Requests of subagents are asked in their topmost session, so they are there too."""
    names = dict(Session.objects.filter(id__in=family.of(session.id)).values_list("id", "title"))
    yield from _permissions(session, names)
    yield from _refusals(session, names)
    yield from _questions(session, names)
    for child in children.listing(session.id):
        url = child.get_absolute_url()
        yield Moment(child.id, "agent", child.time_created, gettext("Subagent"), child.title, url=url)
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
            title=gettext("Permission: %(permission)s") % {"permission": row.permission},
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
        return _joined(gettext(_ANSWERS.get(row.state, row.state)), _by(row.actor), said)
    by = _by(decision.actor) or (gettext(_BY[decision.by]) if decision.by in _BY else _by(decision.by))
    reach = gettext(_REACH.get(decision.scope, "")) if decision.verdict == "allow" else ""
    return _joined(" ".join(filter(None, [gettext(_ANSWERS.get(row.state, row.state)), reach, by])), said)


def _refusals(session: Session, names: dict[str, str]) -> Iterator[Moment]:
    """Calls that were denied without a question."""
    rows = Decision.objects.filter(session_id__in=names, verdict="deny", request_id="").order_by("id")
    for row in rows:
        by = gettext(_BY.get(row.by, row.by))
        yield Moment(
            key=f"dec-{row.pk}",
            kind="ask",
            time=row.time_created,
            title=gettext("Denied: %(permission)s") % {"permission": row.permission},
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
            title=gettext("Question"),
            detail=" / ".join(str(question.get("question", "")) for question in row.questions)[:300],
            note=_joined(
                gettext(_ANSWERS.get(row.state, row.state)), said, _whose(row.session_id, session, names)
            ),
            message=row.message_id if row.session_id == session.id else "",
            took=row.time_answered - row.time_created if row.time_answered else None,
            tone="warn" if row.state == "pending" else "",
        )


def _forks(session: Session) -> Iterator[Moment]:
    if session.forked_from is not None:
        source = session.forked_from
        url = "" if source.time_deleted else source.get_absolute_url()
        key, begun = f"{session.id}-begin", session.time_created
        yield Moment(key, "fork", begun, gettext("Forked from"), source.title, url=url)
    for fork in forks.listing(session.id):
        where = gettext("in a worktree") if fork.project_id != session.project_id else ""
        yield Moment(
            fork.id,
            "fork",
            fork.time_created,
            gettext("Fork"),
            fork.title,
            where,
            url=fork.get_absolute_url(),
        )


def _by(actor: str) -> str:
    return gettext("by %(actor)s") % {"actor": actor} if actor else ""


def _whose(session_id: str, session: Session, names: dict[str, str]) -> str:
    return (
        ""
        if session_id == session.id
        else gettext("asked by %(session)s") % {"session": names[session_id][:100]}
    )


def _joined(*pieces: str) -> str:
    return " · ".join(piece for piece in pieces if piece)


PAGE = 150
"""Moments shown at first, the newest; earlier ones come on demand."""

_ORDER = list(KINDS)
_ENTRY = (
    "time_created", "operation", "session", "message_id", "part_id", "for_message_id", "origin", "project",
    "path", "before", "after", "skipped",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timeline:
    """`moments` are those that are shown, oldest first; `earlier` counts the ones before them.

    `stops` are the points that the files can be looked at: ids of the ledger, rising, beginning with 0 for
    before any change. `turns` are all turns, for the marks of the slider.
    """

    moments: Sequence[Moment]
    earlier: int
    stops: Sequence[int]
    turns: Sequence[Moment]
    counts: dict[Kind, int]


def collect(session: Session) -> list[Moment]:
    """Everything that happened, oldest first, each with the ledger's newest entry by then."""
    found = sorted(
        chain(conversation_moments(session), _ledger_moments(session), other_moments(session)),
        key=lambda moment: (moment.time, _ORDER.index(moment.kind), moment.change, moment.key),
    )
    _tie(found, session.id)
    newest = 0
    for moment in found:
        newest = moment.change = max(newest, moment.change)
    return found


def timeline(session: Session, *, kinds: Collection[str] = (), show: int = PAGE) -> Timeline:
    """The last `show` moments of these kinds (none: of all)."""
    found = collect(session)
    wanted = [moment for moment in found if not kinds or moment.kind in kinds]
    shown = wanted[-show:]
    _name_calls(shown)
    return Timeline(
        moments=shown,
        earlier=len(wanted) - len(shown),
        stops=sorted({0, *(moment.change for moment in found)}),
        turns=[moment for moment in found if moment.kind == "turn"],
        counts={kind: sum(moment.kind == kind for moment in found) for kind in KINDS},
    )


def moment_at(session: Session, change: int) -> Moment | None:
    """What brought the files to where they were after an entry of the ledger."""
    moment = _moment_of(session, change)
    if moment is not None:
        _name_calls([moment])
        _tie([moment], session.id)
    return moment


def _tie(moments: Sequence[Moment], session_id: str) -> None:
    """Only messages that are still in the conversation can be gone to."""
    known = set(Message.objects.filter(session_id=session_id).values_list("id", flat=True))
    for moment in moments:
        moment.message = moment.message if moment.message in known else ""


def _name_calls(moments: Sequence[Moment]) -> None:
    """Say which tool made a change, and of a command what it was."""
    parts = [moment.part for moment in moments if moment.part]
    if not parts:
        return
    asked = KeyTransform("input", KeyTransform("state", "data"))
    rows = Part.objects.filter(id__in=parts).annotate(
        command=Substr(KeyTextTransform("command", asked), 1, WORDS)
    )
    named = {row[0]: row for row in rows.values_list("id", "data__tool", "command")}
    for moment in moments:
        if moment.part in named:
            _name(moment, *named[moment.part][1:])


def _name(moment: Moment, tool: Any, command: str | None) -> None:
    if command:
        moment.title, moment.detail = gettext("Command"), command
    elif tool in ("edit", "multiedit", "write", "apply_patch"):
        words = {"write": gettext("Write"), "apply_patch": gettext("Patch")}
        moment.title = words.get(tool, pgettext("a change", "Edit"))
    elif tool:
        moment.title = gettext("Changed by %(tool)s") % {"tool": tool}


def _ledger_moments(session: Session) -> list[Moment]:
    """One moment a call that changed files, one an operation."""
    by_tools: list[FileChange] = []
    written: dict[str, list[FileChange]] = {}
    for row in of_session(session.id).only(*_ENTRY):
        (written.setdefault(row.operation_id, []) if row.operation_id else by_tools).append(row)
    roots = roots_of(session.project, by_tools)
    rows = Operation.objects.filter(Q(id__in=list(written)) | Q(session_id=session.id))
    done = rows.exclude(state=Operation.State.PLANNED).order_by("id")
    return [
        *(_call(session.id, call, roots) for call in by_call(by_tools).values()),
        *(_operation(row, written.get(row.id, ())) for row in done),
    ]


def _moment_of(session: Session, change: int) -> Moment | None:
    """The call or the operation that an entry belongs to, as it stood with that entry."""
    rows = of_session(session.id).filter(id__lte=change)
    last = rows.filter(id=change).select_related("operation").first()
    if last is None:
        return None
    if last.operation is not None:
        return _operation(last.operation, list(rows.filter(operation=last.operation)))
    place = {"session_id": last.session_id, "message_id": last.message_id, "part_id": last.part_id}
    call = CallEntry(list(rows.filter(operation=None, **place)))
    return _call(session.id, call, roots_of(session.project, call.rows))


def _call(session_id: str, call: CallEntry, roots: Roots) -> Moment:
    last = call.newest
    own = last.session_id == session_id
    by_command = any(row.origin in (Origin.COMMAND, Origin.OVERLAP) for row in call.rows)
    return Moment(
        key=f"chg-{last.pk}",
        kind="edit",
        time=last.time_created,
        title=gettext("Command") if by_command else pgettext("a change", "Edit"),
        note="" if own else gettext("by a subagent"),
        message=last.message_id if own else last.for_message_id,
        part=last.part_id,
        change=last.pk,
        files=[_touched(row, roots) for row in call.rows],
    )


def _touched(row: FileChange, roots: Roots) -> Touched:
    return Touched(shown(roots.path(row)), row.before, row.after, row.skipped)


def _operation(row: Operation, written: Sequence[FileChange]) -> Moment:
    alone = sum(entry["outcome"] in ("conflict", "unsafe") for entry in row.outcome)
    left = gettext("%(alone)s left alone") % {"alone": alone} if alone else ""
    return Moment(
        key=row.id,
        kind="undo",
        time=max([row.time_created, *(change.time_created for change in written)]),
        title=title(row),
        detail=row.words,
        note=" · ".join(filter(None, [_by(row.actor), left])),
        message=row.message_id,
        change=max((change.pk for change in written), default=0),
        tone="warn" if alone else "",
        files=[
            Touched(file.name, note=file.words, additions=file.additions, deletions=file.deletions)
            for file in files_of(row)
        ],
    )

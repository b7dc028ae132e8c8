"""The log of a project, a page at a time: each entry with who, when, what, for which prompt, and how it
stands with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from django.db.models import Max, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext, pgettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.history.entries import (
    CallEntry,
    FileLine,
    Kind,
    Origin,
    State,
    by_tools,
    files_of,
    title,
)
from sessions.changes.review.filediffs import count_change
from sessions.changes.review.verdicts import presence
from sessions.changes.roots import Roots
from sessions.changes.snapshots.changes import Change
from sessions.changes.undo.plan import WRITES, net_steps
from sessions.core.models import FileChange, Message, Operation, Part, Project, Session
from sessions.core.models.ledger import shown, unpack_path
from sessions.core.store import turns

MOST_FILES = 8
"""Files that an entry names; it says how many more there are."""

PAGE = 30
CALLS = {
    "edit": gettext_noop("Edits"),
    "command": gettext_noop("Commands"),
    "formatter": gettext_noop("Formatters"),
}
_ORIGINS = {"edit": ("", Origin.EDIT), "command": (Origin.COMMAND, Origin.OVERLAP)}
OPERATIONS = {
    "hand": gettext_noop("By hand"),
    "keep": gettext_noop("Kept and dropped"),
    "undo": gettext_noop("Undos"),
    "redo": gettext_noop("Redos"),
}
KINDS = CALLS | OPERATIONS
"""What the log can be filtered by, with its words."""

_OPERATION_KINDS = {
    "hand": (Kind.EDIT,),
    "keep": (Kind.KEEP, Kind.DROP, Kind.RESTAGE),
    "undo": (Kind.UNDO, Kind.REVERT),
    "redo": (Kind.REDO, Kind.UNREVERT),
}
_LAST = 2**62


@dataclass(frozen=True, slots=True)
class Asked:
    """A filter, and where the page before ended: before that ledger entry and that operation."""

    session: str = ""
    file: str = ""
    kind: str = ""
    change: int = _LAST
    operation: str = "~"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """From `session`, `file`, `kind` and `before` of a query; bad input is left out."""
        change, _, operation = query.get("before", "").partition(".")
        kind = query.get("kind", "")
        return cls(
            query.get("session", "")[:64],
            query.get("file", "").strip()[:200],
            kind if kind in KINDS else "",
            int(change) if change.isdecimal() and len(change) < 19 else _LAST,
            operation[:64] or "~",
        )

    @property
    def filtered(self) -> bool:
        return bool(self.session or self.file or self.kind)

    @property
    def paged(self) -> bool:
        """Whether newer entries are shown already."""
        return self.change != _LAST


@dataclass(frozen=True, slots=True)
class Standing:
    """`tone` is `on` (in effect), `part`, `off` (undone) or `warn`; `invertible` whether it can be taken
    back."""

    tone: str
    words: str
    invertible: bool


IN_EFFECT = Standing("on", gettext_noop("In effect"), True)
PARTLY = Standing("part", gettext_noop("Partly undone"), True)
UNDONE = Standing("off", gettext_noop("Undone"), False)
WITH_CONVERSATION = Standing("off", gettext_noop("Undone with the conversation"), False)
CHANGED = Standing("part", gettext_noop("Changed since"), True)
REMOVED = Standing("off", gettext_noop("The file has been removed"), False)
NOTHING = Standing("off", gettext_noop("Nothing was changed in the end"), False)

_OPERATION = {
    State.PLANNED: Standing("warn", State.PLANNED.label, False),
    State.WITHDRAWN: Standing("warn", State.WITHDRAWN.label, False),
    State.FINAL: Standing("on", State.FINAL.label, True),
    State.DONE: IN_EFFECT,
}
_CLOSED = {
    Kind.UNDO: Standing("off", gettext_noop("Redone"), False),
    Kind.REVERT: Standing("off", gettext_noop("Redone"), False),
    Kind.REDO: Standing("off", gettext_noop("Undone again"), False),
    Kind.UNREVERT: Standing("off", gettext_noop("Undone again"), False),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What `templates/operations/entry.html` shows. `files` are all it changed. `url` is where the dialog is
    that takes it back, empty where nothing can be; `button` is what that is called, which
    `redoes` or undoes."""

    key: str
    kind: str
    title: str
    who: str
    time: int
    session: Session
    message: str
    prompt: str
    files: Sequence[FileLine]
    state: Standing
    words: str = ""
    command: str = ""
    url: str = ""
    button: str = ""
    redoes: bool = False

    @property
    def named(self) -> Sequence[FileLine]:
        return self.files[:MOST_FILES]

    @property
    def more(self) -> int:
        return len(self.files) - len(self.named)

    @property
    def additions(self) -> int:
        return sum(file.additions for file in self.files)

    @property
    def deletions(self) -> int:
        return sum(file.deletions for file in self.files)


@dataclass(frozen=True, slots=True)
class Context:
    """What is read from the rows for one entry, before files are looked at."""

    message: str
    prompt: str
    who: str
    tool: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """`before` is the cursor of what is older; empty at the end of the log."""

    entries: list[CallEntry | Operation] = field(default_factory=list)
    before: str = ""


def page(project: Project, asked: Asked) -> Found:
    """The newest entries that a filter leaves before a cursor."""
    calls = [] if asked.kind in OPERATIONS else _calls(project, asked)
    operations = [] if asked.kind in CALLS else _operations(project, asked)
    both: list[CallEntry | Operation] = [*calls, *operations]
    both.sort(key=_time, reverse=True)
    shown = both[:PAGE]
    return Found(shown, _cursor(shown, asked) if len(both) > PAGE else "")


def call(session_id: str, part_id: str) -> CallEntry | None:
    rows = by_tools().filter(session_id=session_id, part_id=part_id)
    listed = list(rows.select_related("session__project", "for_session").order_by("id"))
    return CallEntry(listed) if listed and part_id else None


def _time(entry: CallEntry | Operation) -> int:
    return entry.newest.time_created if isinstance(entry, CallEntry) else entry.time_created


def _cursor(shown: Iterable[CallEntry | Operation], asked: Asked) -> str:
    change, operation = asked.change, asked.operation
    for entry in shown:
        if isinstance(entry, CallEntry):
            change = min(change, entry.newest.pk)
        else:
            operation = min(operation, entry.id)
    return f"{change}.{operation}"


def call_context(call: CallEntry) -> Context:
    """Of a call by a subagent, the prompt of the topmost session that sent it."""
    row = call.newest
    answer = Message.objects.filter(id=row.message_id).first()
    top = Message.objects.filter(id=row.for_message_id).first() if row.for_message_id else answer
    part = Part.objects.filter(id=row.part_id).first()
    prompt = str(top.data.get("parentID", "")) if top else ""
    text = turns.from_prompt(top.session_id, prompt)[1] if top and prompt else ""
    tool, command = _tool(part)
    return Context(prompt, text, _agent(answer), tool, command)


def operation_context(operation: Operation, me: str) -> Context:
    """`me` is who looks at the log."""
    who = (
        gettext("You")
        if operation.actor and operation.actor == me
        else operation.actor or gettext("A person")
    )
    scope = operation.scope
    message = operation.message_id or str(scope.get("message", ""))
    text = turns.from_prompt(operation.session_id, message)[1] if message else ""
    return Context(message, text, who)


def call_entry(call: CallEntry, context: Context, roots: Roots) -> Entry:
    """Reads the files it has changed, to say whether that is still there. Blocks."""
    row = call.newest
    steps = steps_by_path(call.rows, roots)
    state = state_of_call(call.rows, steps, roots)
    lines = [_line(path, own, roots) for path, own in steps.items()]
    origin = call.rows[0].origin or ("command" if context.tool == "bash" else "edit")
    tool = context.tool.replace("_", " ").capitalize() or pgettext("a change", "Edit")
    return Entry(
        key=f"c{row.pk}",
        kind=origin,
        title=tool if origin == Origin.EDIT else gettext(Origin(origin).label),
        who=context.who,
        time=row.time_created,
        session=row.for_session or row.session,
        message=context.message,
        prompt=context.prompt,
        files=lines,
        state=state,
        command=context.command,
        url=reverse("invert-call", args=(row.project_id, row.session_id, row.part_id))
        if state.invertible and row.part_id
        else "",
        button=gettext("Undo"),
    )


def operation_entry(operation: Operation, context: Context) -> Entry:
    state = state_of_operation(operation)
    redoes = operation.kind not in (Kind.REDO, Kind.UNREVERT, Kind.KEEP, Kind.EDIT)
    return Entry(
        key=operation.id,
        kind=operation.kind,
        title=title(operation),
        who=context.who,
        time=operation.time_created,
        session=operation.session,
        message=context.message,
        prompt=context.prompt,
        files=files_of(operation),
        state=state,
        words=operation.words,
        url=reverse("invert-operation", args=(operation.project_id, operation.id))
        if state.invertible
        else "",
        button=gettext("Redo") if redoes else gettext("Undo"),
        redoes=redoes,
    )


def state_of_operation(operation: Operation) -> Standing:
    if operation.kind == Kind.UNDO and operation.state == State.DONE and not _wrote(operation):
        return NOTHING
    return _OPERATION.get(State(operation.state)) or _CLOSED.get(Kind(operation.kind), UNDONE)


def _wrote(operation: Operation) -> bool:
    return any(entry["outcome"] in WRITES for entry in operation.outcome)


def state_of_call(
    rows: Sequence[FileChange], steps: Mapping[str, Sequence[Change]], roots: Roots
) -> Standing:
    """By the files as they are now: who took something back does not matter."""
    if all(row.undone_by_id for row in rows):
        return WITH_CONVERSATION
    if not steps:
        return NOTHING
    seen = {presence(path, own, roots).state for path, own in steps.items()}
    if seen == {"here"}:
        return IN_EFFECT
    if seen == {"gone"}:
        return UNDONE
    if seen == {"missing"}:
        return REMOVED
    return CHANGED if "changed" in seen else PARTLY


def steps_by_path(rows: Sequence[FileChange], roots: Roots) -> Mapping[str, tuple[Change, ...]]:
    """What a call did to each file; nothing of those that ended as they began."""
    changes: dict[str, list[Change]] = {}
    for row in rows:
        changes.setdefault(roots.path(row), []).append(roots.change(row))
    found = {path: net_steps(own, roots.of(path).objects) for path, own in changes.items()}
    return {path: own for path, own in found.items() if own}


def _tool(part: Part | None) -> tuple[str, str]:
    """Its name, and the command that a shell was given."""
    if part is None:
        return "", ""
    given = part.data.get("state", {}).get("input") or {}
    return str(part.data.get("tool", "")), str(given.get("command", ""))


def _agent(answer: Message | None) -> str:
    if answer is None:
        return gettext("The agent")
    data = answer.data
    return " · ".join(str(data[name]) for name in ("agent", "modelID") if data.get(name)) or gettext(
        "The agent"
    )


def _calls(project: Project, asked: Asked) -> list[CallEntry]:
    rows = by_tools().filter(project=project)
    groups = _matching(rows, asked).order_by().values_list("session_id", "part_id").annotate(last=Max("id"))
    found = list(groups.filter(last__lt=asked.change).order_by("-last")[: PAGE + 1])
    whole: dict[tuple[str, str], list[FileChange]] = {}
    parts = rows.filter(part_id__in=[part_id for _, part_id, _ in found])
    for row in parts.select_related("session", "for_session").order_by("id"):
        whole.setdefault((row.session_id, row.part_id), []).append(row)
    return [CallEntry(whole[session_id, part_id]) for session_id, part_id, _ in found]


def _matching(rows: QuerySet[FileChange], asked: Asked) -> QuerySet[FileChange]:
    if asked.session:
        rows = rows.filter(Q(session_id=asked.session) | Q(for_session_id=asked.session))
    if asked.file:
        rows = rows.filter(path__icontains=asked.file)
    if asked.kind:
        rows = rows.filter(origin__in=_ORIGINS.get(asked.kind, (asked.kind,)))
    return rows


def _operations(project: Project, asked: Asked) -> list[Operation]:
    rows = Operation.objects.filter(project=project, id__lt=asked.operation)
    if asked.session:
        rows = rows.filter(session_id=asked.session)
    if asked.kind:
        rows = rows.filter(kind__in=_OPERATION_KINDS[asked.kind])
    found = rows.select_related("session").order_by("-id").iterator()
    return list(islice((row for row in found if _touches(row, asked.file.lower())), PAGE + 1))


def _touches(operation: Operation, file: str) -> bool:
    """Whether an operation has a file with this in its path."""
    return not file or any(file in unpack_path(entry["path"]).lower() for entry in operation.outcome)


def _line(path: str, steps: Sequence[Change], roots: Roots) -> FileLine:
    counts = [count_change(step, roots.of(path).objects) for step in steps]
    words = next((step.skipped for step in steps if step.skipped), "") or ""
    return FileLine(shown(path), sum(added for added, _ in counts), sum(gone for _, gone in counts), words)

"""Entries of the log as the page shows them: who, when, what, for which prompt, and how it stands with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.models import FileChange, Message, Operation, Part, Session
from sessions.models.ledger import shown, unpack_path
from sessions.operations import states
from sessions.operations.reading import Call
from sessions.operations.states import State
from sessions.review.outcomes import as_change
from sessions.snapshots.changes import Change
from sessions.store import turns
from sessions.tracking import Tracker
from sessions.undo.steps import net_steps

MOST_FILES = 8
"""Files that an entry names; it says how many more there are."""

_CALLS = {"command": "Shell", "overlap": "Shell", "formatter": "Formatter"}
_OPERATIONS = {
    "revert": "Undid a part of the conversation",
    "unrevert": "Redid a part of the conversation",
    "undo": "Undid",
    "redo": "Redid",
    "keep": "Kept staged edits",
    "drop": "Dropped staged edits",
    "restage": "Took back a decision on staged edits",
}


@dataclass(frozen=True, slots=True)
class FileLine:
    """One file of an entry; `words` say what came of it where that is not plain."""

    name: str
    additions: int
    deletions: int
    words: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What `templates/operations/entry.html` shows. `url` is where the dialog is that takes it back, empty
    where nothing can be; `button` is what that is called."""

    key: str
    kind: str
    title: str
    who: str
    time: int
    session: Session
    message: str
    prompt: str
    files: Sequence[FileLine]
    more: int
    state: State
    words: str = ""
    command: str = ""
    url: str = ""
    button: str = ""

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


def call_context(call: Call) -> Context:
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
    who = "You" if operation.actor and operation.actor == me else operation.actor or "A person"
    scope = operation.scope
    message = operation.message_id or str(scope.get("message", ""))
    text = turns.from_prompt(operation.session_id, message)[1] if message else ""
    return Context(message, text, who)


def call_entry(call: Call, context: Context, project: Tracker) -> Entry:
    """Reads the files it has changed, to say whether that is still there. Blocks."""
    row = call.newest
    steps = steps_by_path(call.rows, project)
    state = states.of_call(call.rows, steps, project)
    lines = [_line(path, own, project) for path, own in steps.items()]
    origin = call.rows[0].origin or ("command" if context.tool == "bash" else "edit")
    tool = context.tool.replace("_", " ").capitalize() or "Edit"
    return Entry(
        key=f"c{row.pk}",
        kind=origin,
        title=_CALLS.get(origin, tool),
        who=context.who,
        time=row.time_created,
        session=row.for_session or row.session,
        message=context.message,
        prompt=context.prompt,
        files=lines[:MOST_FILES],
        more=max(0, len(lines) - MOST_FILES),
        state=state,
        command=context.command,
        url=_url(row, f"calls/{row.session_id}/{row.part_id}") if state.invertible and row.part_id else "",
        button="Undo",
    )


def operation_entry(operation: Operation, context: Context) -> Entry:
    lines = [_outcome_line(entry) for entry in operation.outcome]
    state = states.of_operation(operation)
    return Entry(
        key=operation.id,
        kind=operation.kind,
        title=_operation_title(operation),
        who=context.who,
        time=operation.time_created,
        session=operation.session,
        message=context.message,
        prompt=context.prompt,
        files=lines[:MOST_FILES],
        more=max(0, len(lines) - MOST_FILES),
        state=state,
        words=operation.words,
        url=_url(operation, f"operations/{operation.id}") if state.invertible else "",
        button="Undo" if operation.kind in ("redo", "unrevert", "keep") else "Redo",
    )


def steps_by_path(rows: Sequence[FileChange], project: Tracker) -> Mapping[str, tuple[Change, ...]]:
    """What a call did to each file; nothing of those that ended as they began."""
    changes: dict[str, list[Change]] = {}
    for row in rows:
        changes.setdefault(row.path, []).append(as_change(row))
    found = {path: net_steps(own, project.objects) for path, own in changes.items()}
    return {path: own for path, own in found.items() if own}


def _tool(part: Part | None) -> tuple[str, str]:
    """Its name, and the command that a shell was given."""
    if part is None:
        return "", ""
    given = part.data.get("state", {}).get("input") or {}
    return str(part.data.get("tool", "")), str(given.get("command", ""))


def _agent(answer: Message | None) -> str:
    if answer is None:
        return "The agent"
    data = answer.data
    return " · ".join(str(data[name]) for name in ("agent", "modelID") if data.get(name)) or "The agent"


def _operation_title(operation: Operation) -> str:
    title = _OPERATIONS.get(operation.kind, operation.kind)
    if operation.kind not in ("undo", "redo"):
        return title
    if operation.hunks and not any(hunk["key"] == "" for hunk in operation.hunks):
        count = len(operation.hunks)
        return f"{title} {count} hunk{'' if count == 1 else 's'}"
    count = len(operation.outcome)
    return f"{title} changes of {count} file{'' if count == 1 else 's'}"


def _line(path: str, steps: Sequence[Change], project: Tracker) -> FileLine:
    counts = [states.count(step, project.objects) for step in steps]
    words = next((step.skipped for step in steps if step.skipped), "") or ""
    return FileLine(shown(path), sum(added for added, _ in counts), sum(gone for _, gone in counts), words)


def _outcome_line(entry: Mapping[str, Any]) -> FileLine:
    words = {"already": "was so already", "missing": "is gone"}.get(entry["outcome"], "")
    if entry["outcome"] in ("conflict", "unsafe", "uncovered"):
        words = f"left alone: {entry['reason']}"
    name = shown(unpack_path(entry["path"]))
    words = words or entry.get("reason", "")
    return FileLine(name, entry.get("additions", 0), entry.get("deletions", 0), words)


def _url(row: FileChange | Operation, what: str) -> str:
    return f"/p/{row.project_id}/log/{what}/invert"

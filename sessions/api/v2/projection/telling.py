"""What one row of the log tells in the second protocol: none, one or several events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db.models import Q

from sessions.api.v2.projection.rows import Rows
from sessions.api.v2.projection.timeline import entries
from sessions.core.models import Event, Message, Session
from sessions.core.store import messages
from sessions.core.wire.v2 import conversation, events
from sessions.core.wire.v2.base import ErrorUnknown, error_of, tokens_of
from sessions.core.wire.v2.content import output_of
from sessions.core.wire.v2.prompts import prompt_of

# The events of a tool call, by how far it was.


def told_of_call(stage: str, part: Wire, about: Wire, shell: str = "") -> Iterator[events.Told]:
    """`about` are the fields that all have; `shell` is the prompt when it is a command of the user."""
    state = part["state"]
    named = about | {"call_id": part["callID"]}
    if shell:
        yield from _shell(stage, state, named, shell)
    elif stage == "pending":
        yield events.InputStarted(**named, name=part["tool"])
    elif stage == "running":
        if (part.get("metadata") or {}).get("parent"):  # a call that another call makes begins at once
            yield events.InputStarted(**named, name=part["tool"])
        given = state["input"]
        yield events.InputEnded(**named, text=state.get("raw") or json.dumps(given, ensure_ascii=False))
        yield events.ToolCalled(**named, tool=part["tool"], input=given)
    elif stage == "progress" and state["status"] == "running":
        yield events.ToolProgress(**named, structured=state.get("metadata") or {})
    elif stage == "completed" and state["status"] == stage:
        yield _success(state, named)
    elif stage == "error" and state["status"] == stage:
        yield events.ToolFailed(**named, error=ErrorUnknown(message=state["error"]))


def _success(state: Wire, named: Wire) -> events.ToolSuccess:
    structured = state.get("metadata") or {}
    path = structured.get("outputPath")
    return events.ToolSuccess(
        **named,
        structured=structured,
        content=output_of(state),
        output_paths=[path] if isinstance(path, str) else None,
    )


def _shell(stage: str, state: Wire, named: Wire, prompt_id: str) -> Iterator[events.Told]:
    fields = {key: named[key] for key in ("timestamp", "session_id", "call_id")}
    if stage == "running":
        command = str(state["input"].get("command", ""))
        yield events.ShellStarted(**fields, message_id=prompt_id, command=command)
    elif stage in ("completed", "error") and state["status"] == stage:
        yield events.ShellEnded(**fields, output=conversation.shell_output(state))


Wire = dict[str, Any]
Told = tuple[str, Wire]


def revert_of(session: Session) -> Wire | None:
    """The undo of a session that can be taken back, with the id by which clients know its message."""
    if not session.revert:
        return None
    return {**session.revert, "messageID": messages.known_as(session.revert["messageID"])}


def told_of(row: Event, rows: Rows) -> list[Told]:
    """Kind and data of each event, in order."""
    if row.type.startswith(events.PREFIX):
        data = _own(row, rows)
        return [] if data is None else [(row.type.removeprefix(events.PREFIX), data)]
    return [(told.kind, told.wire()) for told in _READ[row.type](row, rows)]


def _own(row: Event, rows: Rows) -> Wire | None:
    """An event that is logged as this protocol has it."""
    data = {"sessionID": row.session_id, "timestamp": row.time_created, **row.reference}
    if row.type == f"{events.PREFIX}context.updated":
        said = rows.told.get(str(row.reference.get("messageID")))
        return {**data, "text": said.text} if said else None
    if row.type == f"{events.PREFIX}revert.staged":
        session = rows.sessions.get(row.session_id)
        revert = revert_of(session) if session else None
        return {**data, "revert": revert} if revert else None
    return data


def _inbox(row: Event, rows: Rows) -> Iterator[events.Told]:
    """A prompt is admitted, then promoted; every change meanwhile tells nothing here."""
    prompt_id = str(row.reference["messageID"])
    if not row.stage:
        return
    waiting, said = rows.waiting.get(prompt_id), rows.prompts.get(prompt_id)
    parts = waiting.parts if waiting else said["parts"] if said else []
    if not parts or conversation.command_of(parts) is not None:
        return
    about = {"timestamp": row.time_created, "session_id": row.session_id, "message_id": prompt_id}
    promoted = "promoted" in row.reference
    if conversation.request_of(parts):
        if promoted:
            yield events.CompactionStarted(**about, reason=conversation.reason_of(parts))
    elif conversation.is_synthetic(parts):
        if promoted:
            yield events.SyntheticSaid(**about, text=conversation.synthetic_text(parts))
    else:
        kind = events.Prompted if promoted else events.PromptAdmitted
        yield kind(**about, prompt=prompt_of(parts), delivery=row.stage)


def _message(row: Event, rows: Rows) -> Iterator[events.Told]:
    info = rows.message(row)
    if row.stage == "failed" and info and info.get("error"):
        about = {"timestamp": row.time_created, "session_id": row.session_id, "message_id": info["id"]}
        yield events.StepFailed(**about, error=error_of(info["error"]))


def _part(row: Event, rows: Rows) -> Iterator[events.Told]:
    part, info = rows.part(row), rows.message(row)
    if part is None or info is None or info["role"] != "assistant" or info.get("summary"):
        return
    about = {"timestamp": row.time_created, "session_id": row.session_id, "message_id": info["id"]}
    if part["type"] == "tool":
        yield from told_of_call(row.stage, part, about, rows.shells.get(info["parentID"], ""))
    elif part["type"] in ("text", "reasoning"):
        yield from _text(row.stage, part, about)
    elif part["type"] == "step-start":
        model = conversation.answering_model(info)
        yield events.StepStarted(**about, agent=info["agent"], model=model, snapshot=part.get("snapshot"))
    elif part["type"] == "step-finish":
        yield events.StepEnded(
            **about,
            finish=part["reason"],
            cost=part["cost"],
            tokens=tokens_of(part["tokens"]),
            snapshot=part.get("snapshot"),
        )
    elif part["type"] == "retry":
        error = part["error"]["data"]
        words, again = str(error.get("message", "")), bool(error.get("isRetryable"))
        about.pop("message_id")
        retry = events.RetryError(message=words, is_retryable=again)
        yield events.Retried(**about, attempt=part["attempt"], error=retry)


def _text(stage: str, part: Wire, about: Wire) -> Iterator[events.Told]:
    """What a failed attempt said is no message's text."""
    if part.get("ignored") or (part.get("metadata") or {}).get("ignored"):
        return
    if part["type"] == "text":
        named = about | {"text_id": part["id"]}
        yield events.TextStarted(**named) if stage == "open" else events.TextEnded(**named, text=part["text"])
    else:
        named = about | {"reasoning_id": part["id"]}
        started, ended = events.ReasoningStarted, events.ReasoningEnded
        yield started(**named) if stage == "open" else ended(**named, text=part["text"])


def _compacted(row: Event, rows: Rows) -> Iterator[events.Told]:
    """The summary that was complete at that time."""
    known = Message.objects.filter(
        session_id=row.session_id,
        role="assistant",
        data__summary=True,
        data__time__completed__lte=row.time_created,
    )
    summary = known.order_by("-id").first()
    if summary is None:
        return
    found = entries(row.session_id, Q(id__in=[summary.data["parentID"], summary.id]))
    if len(found) == 2:
        asked, answer = found
        about = {"timestamp": row.time_created, "session_id": row.session_id, "message_id": asked["shown"]}
        reason, text = conversation.reason_of(asked["parts"]), conversation.text_of(answer["parts"])
        yield events.CompactionEnded(**about, reason=reason, text=text)


_READ: Mapping[str, Callable[[Event, Rows], Iterator[events.Told]]] = {
    "session.inbox": _inbox,
    "message.updated": _message,
    "message.part.updated": _part,
    "session.compacted": _compacted,
}

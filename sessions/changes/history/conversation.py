"""Moments of the conversation: turns, compactions, and turns that did not end in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Substr

from sessions.core.endings import cut_off_words, ending_of, error_words
from sessions.core.models import Message, Part, Session
from sessions.core.store import waits

from .moments import Moment

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
    title = "Prompt"
    if asked:
        title = "Compaction, by itself" if row["compaction"] else "Compaction, asked for"
    return Moment(
        key=row["id"],
        kind="compaction" if asked else "turn",
        time=row["time_created"],
        title=title,
        detail=row["text"] or ("" if asked else "(no text)"),
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
        title=cut_off or words["title"],
        detail="" if cut_off else words["detail"],
        message=message_id,
        tone="" if ending_of(error) == "stopped" else "warn",
    )

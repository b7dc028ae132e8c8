"""Messages as HTML: a shell with a head, its parts and a foot, each with an id of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from sessions.models import Session
from sessions.wire.messages import ABORTED, STOPPED_BY_USER

from .html import html
from .parts import parts_html
from .text import visible

Wire = Mapping[str, Any]

_ERROR_NAMES = {
    "ProviderAuthError": "The provider refused the key",
    "MessageOutputLengthError": "The answer was longer than the model may write",
    "ContextOverflowError": "The conversation is longer than the model's window",
    "APIError": "The provider answered with an error",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where messages are shown: the session's URL, its project's folder, from where on it is undone."""

    base: str
    root: str
    session_id: str
    reverted_from: str = ""

    @classmethod
    def of(cls, session: Session) -> Place:
        return cls(
            base=f"/p/{session.project_id}/s/{session.id}",
            root=session.directory,
            session_id=session.id,
            reverted_from=(session.revert or {}).get("messageID", ""),
        )


def messages_html(entries: Sequence[Wire], place: Place) -> SafeString:
    """A run of messages in order, as `store.messages.history` gives them."""
    prompts = {entry["info"]["id"]: entry["info"] for entry in entries if entry["info"]["role"] == "user"}
    pieces = [message_html(entry, place, prompts.get(entry["info"].get("parentID", ""))) for entry in entries]
    return mark_safe("".join(pieces))  # noqa: S308 (joined from rendered templates)


def message_html(entry: Wire, place: Place, prompt: Wire | None = None) -> SafeString:
    """One message with its parts; `prompt` is the user message that an assistant's answers."""
    info = entry["info"]
    parts = parts_html(entry["parts"], info["role"], root=place.root, base=place.base)
    return shell_html(info, place, parts, foot_html(info, place, prompt))


def shell_html(info: Wire, place: Place, parts: str = "", foot: str = "") -> SafeString:
    return html(
        "conversation/summary.html" if info.get("summary") is True else "conversation/message.html",
        id=info["id"],
        role=info["role"],
        open=not info["time"].get("completed"),
        parts=mark_safe(parts),  # noqa: S308 (rendered templates)
        foot=mark_safe(foot),  # noqa: S308
        reverted=bool(place.reverted_from) and info["id"] >= place.reverted_from,
    )


def foot_html(info: Wire, place: Place, prompt: Wire | None = None, *, oob: bool = False) -> SafeString:
    """Below a message: "Undo from here" for a prompt; error, model, time and changed files for an answer."""
    if info["role"] == "user":
        return html("conversation/prompt_foot.html", info=info, place=place, oob=oob)
    completed = info["time"].get("completed")
    ended = bool(completed) and info.get("finish") not in ("tool-calls", None)
    error = info.get("error")
    started = (prompt or info)["time"]["created"]
    diffs = ((prompt or {}).get("summary") or {}).get("diffs") or []
    return html(
        "conversation/answer_foot.html",
        id=info["id"],
        info=info,
        place=place,
        oob=oob,
        ended=ended,
        took=completed - started if completed else None,
        error=error_words(error) if error else None,
        cut_off=cut_off_words(error) if error else "",
        diffs=diffs if ended or error else [],
        total={key: sum(diff.get(key, 0) for diff in diffs) for key in ("additions", "deletions")},
    )


def cut_off_words(error: Wire) -> str:
    """What cut an answer off without being a failure of it, for the page; empty for any other error."""
    if error.get("name") != ABORTED:
        return ""
    said = visible(str((error.get("data") or {}).get("message") or ""))[:4000]
    return "Stopped by you" if said == STOPPED_BY_USER else said or "Stopped"


def error_words(error: Wire) -> dict[str, str]:
    """`{"title", "detail"}` of a wire error."""
    name = str(error.get("name", "Error"))
    detail = visible(str((error.get("data") or {}).get("message") or "")[:4000])
    return {"title": _ERROR_NAMES.get(name, "Something went wrong"), "detail": detail}

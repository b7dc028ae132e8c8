"""Entries of a history (`{"info", "parts"}`) as a compaction looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Entry = dict[str, Any]


def id_of(entry: Entry) -> str:
    return str(entry["info"]["id"])


def role_of(entry: Entry) -> str:
    return str(entry["info"]["role"])


def request_of(entry: Entry) -> dict[str, Any] | None:
    """The part of a user message that asks for a compaction."""
    if role_of(entry) != "user":
        return None
    for part in entry["parts"]:
        if part["type"] == "compaction":
            return part  # type: ignore[no-any-return]
    return None


def is_summary(entry: Entry) -> bool:
    """Also one that was begun and not finished."""
    return bool(entry["info"].get("summary")) and role_of(entry) == "assistant"


def is_complete(summary: Entry) -> bool:
    """Only a summary that ended in order is a boundary of the history."""
    info = summary["info"]
    return bool(info.get("finish") and info["time"].get("completed") and not info.get("error"))


def is_conversation(entry: Entry) -> bool:
    """Neither a request for a compaction nor its answer."""
    if entry["info"]["role"] == "assistant":
        return not entry["info"].get("summary")
    return request_of(entry) is None


def is_written(entry: Entry) -> bool:
    """Whether a person wrote this prompt, rather than the program itself."""
    return (
        role_of(entry) == "user"
        and request_of(entry) is None
        and any(not part.get("synthetic") for part in entry["parts"])
    )


def is_carried(entry: Entry) -> bool:
    """Whether it is the prompt that stands between a summary and the end that was kept."""
    return bool(entry.get("carried"))


def says_something(entry: Entry) -> bool:
    """Whether an answer has words or calls of the model; an attempt that failed at once has neither."""
    return any(_is_call(part) or (part["type"] == "text" and part["text"]) for part in entry["parts"])


def _is_call(part: dict[str, Any]) -> bool:
    """A call that the model made, and not another call or the program."""
    return part["type"] == "tool" and not (part.get("metadata") or {}).get("parent")


def last_summary(entries: Sequence[Entry]) -> int | None:
    """Where the last complete summary is."""
    for at in range(len(entries) - 1, -1, -1):
        if entries[at]["info"].get("summary") and is_summary(entries[at]) and is_complete(entries[at]):
            return at
    return None


def is_step(entry: Entry) -> bool:
    """A provider turn of the conversation that ended in order."""
    info = entry["info"]
    return role_of(entry) == "assistant" and not is_summary(entry) and bool(info.get("finish"))


def prompt_tokens(info: dict[str, Any]) -> int:
    """What the provider counted of a request."""
    counted = info.get("tokens") or {}
    cache = counted.get("cache") or {}
    return int(counted.get("input", 0) + cache.get("read", 0) + cache.get("write", 0))


def total_tokens(info: dict[str, Any]) -> int:
    """The request and what was answered: what the next request begins with."""
    counted = info.get("tokens") or {}
    return prompt_tokens(info) + int(counted.get("output", 0) + counted.get("reasoning", 0))


def tool_parts(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Completed calls of the model, in order."""
    return [
        part
        for entry in entries
        for part in entry["parts"]
        if _is_call(part) and part["state"]["status"] == "completed"
    ]


QUESTION = (
    "Our conversation so far no longer fits. Sum it up, so that the work can go on from your summary as if "
    "nothing had been cut off."
)


def project(entries: Sequence[Entry]) -> list[Entry]:
    """The entries a model is sent: the last summary with its question, the person's last prompt and the end
    that was kept, both verbatim, and what came after. Without a complete summary everything but attempts at
    one."""
    at = last_summary(entries)
    if at is None:
        return [entry for entry in entries if is_conversation(entry)]
    summary = entries[at]
    asked = next((entry for entry in entries[:at] if id_of(entry) == summary["info"]["parentID"]), None)
    request = (request_of(asked) if asked else None) or {}
    kept_from, noted = request.get("tail_start_id"), request.get("metadata") or {}
    prompt = [entry | {"carried": True} for entry in entries[:at] if id_of(entry) == noted.get("prompt")]
    tail = [entry for entry in entries[:at] if kept_from and id_of(entry) >= kept_from and _is_said(entry)]
    after = [entry for entry in entries[at + 1 :] if is_conversation(entry)]
    return [_question(summary), _answer(summary, noted.get("state") or ""), *prompt, *tail, *after]


def _is_said(entry: Entry) -> bool:
    """Updates of the surroundings are folded into the baseline of the epoch that a compaction begins."""
    return is_conversation(entry) and role_of(entry) != "system"


def _question(summary: Entry) -> Entry:
    info = {"id": summary["info"]["parentID"], "role": "user", "time": summary["info"]["time"]}
    return {"info": info, "parts": [{"type": "text", "text": QUESTION}]}


def _answer(summary: Entry, state: str) -> Entry:
    """With what the program knew by itself at that time."""
    texts = [part for part in summary["parts"] if part["type"] == "text"]
    return {**summary, "parts": [*texts, {"type": "text", "text": state}] if state else texts}

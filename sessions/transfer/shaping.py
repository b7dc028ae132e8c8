"""Records of any version of OpenCode made into what the store takes: gaps of older ones filled.

A record of a known kind is held against the wire's own model, so that the page and the agent can rely on it;
fields that the model does not know are kept, and so are parts of an unknown kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from sessions.wire.messages import MESSAGE
from sessions.wire.parts import PART

from .completing import settle, sum_up
from .reading.records import Conversation, Problem, Unreadable, Wire, mapping, number, text

_ID = re.compile(r"(?:ses|msg|prt)[A-Za-z0-9_-]{1,29}")
_PARTS = frozenset(
    "text reasoning file tool step-start step-finish patch snapshot subtask agent retry compaction".split()
)


def shape(read: Conversation) -> bool:
    """Bring a conversation into form, in place; what cannot be taken is named in its `problems`.

    Returns whether something of it was still running. Raises Unreadable when nothing of it can be taken.
    """
    info = read.info
    if not _is_id(info.get("id"), "ses"):
        raise Unreadable(f"its id {str(info.get('id'))[:40]!r} is none of a session")
    _fill_session(read)
    entries, last, runs = [], "", False
    for entry in read.entries:
        message = _taken(entry["info"], f"message/{entry['info'].get('id')}", read, _message_of(read, last))
        if message is None:
            continue
        last = message["id"] if message["role"] == "user" else last
        parts = list(_parts(entry["parts"], message, read))
        runs |= settle(message, parts)
        entries.append({"info": message, "parts": parts})
    read.entries = entries
    sum_up(read)
    return runs


def _fill_session(read: Conversation) -> None:
    info = read.info
    time = mapping(info.get("time"))
    created = number(time.get("created")) or _first_time(read)
    info["time"] = {**time, "created": created, "updated": number(time.get("updated")) or created}
    info["title"] = text(info.get("title")) or "Untitled"
    info["model"] = mapping(info.get("model"))
    rules = info.get("permission")
    info["permission"] = rules if isinstance(rules, list) else []
    for rule in info["permission"]:
        if mapping(rule).get("action") == "allow":
            what = f"{rule.get('permission')} {rule.get('pattern')}"[:80]
            read.problems.append(Problem(f"session/{info['id']}", f"its rule to allow {what!r} was left out"))


def _first_time(read: Conversation) -> int:
    times = (number(mapping(entry["info"].get("time")).get("created")) for entry in read.entries)
    return next(filter(None, times), 0)


def _message_of(read: Conversation, asked: str) -> Callable[[Wire], Wire]:
    """Fills what messages of older versions lack; `asked` is the prompt before this one."""

    def filled(info: Wire) -> Wire:
        if info.get("role") not in ("user", "assistant"):
            raise Unreadable(f"its role {str(info.get('role'))[:40]!r} is not known")
        times = mapping(info.get("time"))
        base = {
            **info,
            "sessionID": read.info["id"],
            "time": {**times, "created": number(times.get("created")) or read.info["time"]["created"]},
        }
        return _prompt(base, read) if info["role"] == "user" else _answer(base, read, asked)

    return filled


def _prompt(info: Wire, read: Conversation) -> Wire:
    model = mapping(info.get("model"))
    if not text(model.get("modelID")):
        model = _next_model(info["id"], read)
    return {**info, "agent": text(info.get("agent")) or text(info.get("mode")) or "build", "model": model}


def _next_model(message: str, read: Conversation) -> Wire:
    """The model that answered."""
    infos = (entry["info"] for entry in read.entries)
    answers = (info for info in infos if info.get("role") == "assistant" and text(info.get("modelID")))
    for info in answers:
        if text(info.get("id")) > message:
            return {"providerID": text(info.get("providerID")) or "unknown", "modelID": info["modelID"]}
    return {"providerID": "unknown", "modelID": "unknown"}


def _answer(info: Wire, read: Conversation, asked: str) -> Wire:
    mode = text(info.get("mode")) or text(info.get("agent")) or "build"
    folder = text(read.info.get("directory"))
    filled: Wire = {
        "mode": mode,
        "agent": text(info.get("agent")) or mode,
        "parentID": text(info.get("parentID")) or asked,
        "modelID": text(info.get("modelID")) or "unknown",
        "providerID": text(info.get("providerID")) or "unknown",
        "path": {"cwd": folder, "root": read.worktree or folder, **mapping(info.get("path"))},
    }
    if "summary" in info:
        filled["summary"] = bool(info["summary"])
    return {**info, **filled}


def _parts(parts: list[Wire], message: Wire, read: Conversation) -> Iterator[Wire]:
    seen = set()
    for part in parts:
        where = f"part/{part.get('id')}"
        taken = _taken(part, where, read, lambda given: _part(given, message))
        if taken is not None and taken["id"] not in seen:
            seen.add(taken["id"])
            yield taken


def _part(part: Wire, message: Wire) -> Wire:
    base = {**part, "sessionID": message["sessionID"], "messageID": message["id"]}
    moment = message["time"]["created"]
    match part.get("type"):
        case "tool":
            return {**base, "callID": text(part.get("callID")) or part["id"], "state": _state(part, moment)}
        case "reasoning":
            return {"time": {"start": moment}, **base}
        case "step-finish":
            return {"reason": "unknown", **base}
        case "file":
            return {"mime": "application/octet-stream", **base}
        case str(kind) if kind:
            return base
    raise Unreadable("it has no type")


def _state(part: Wire, moment: int) -> Wire:
    state = mapping(part.get("state"))
    filled = {**state, "input": mapping(state.get("input"))}
    if state.get("status") == "completed":
        filled = {"title": "", "output": "", "metadata": {}, **filled}
    if state.get("status") == "error":
        filled = {"error": "", **filled}
    if state.get("status") in ("running", "completed", "error"):
        filled["time"] = {"start": moment, **mapping(state.get("time"))}
    return filled


def _taken(record: Wire, where: str, read: Conversation, fill: Callable[[Wire], Wire]) -> Wire | None:
    """The record in form, or None with a line in `problems`."""
    kind = "msg" if where.startswith("message/") else "prt"
    try:
        if not _is_id(record.get("id"), kind):
            raise Unreadable(f"its id {str(record.get('id'))[:40]!r} is none of its kind")
        return _valid(fill(record), kind)
    except Unreadable as error:
        read.problems.append(Problem(where, str(error)))
        return None


def _valid(record: Wire, kind: str) -> Wire:
    """As it is when it is sound, by its model's own reading when only a number came as text or the like."""
    if kind == "prt" and record["type"] not in _PARTS:
        return record
    adapter: Any = MESSAGE if kind == "msg" else PART
    try:
        adapter.validate_python(record, strict=True)
        return record
    except ValidationError:
        pass
    try:
        return dict(adapter.validate_python(record).wire())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise Unreadable(f"{where}: {first['msg']}") from error


def _is_id(value: Any, prefix: str) -> bool:
    return isinstance(value, str) and value.startswith(prefix) and _ID.fullmatch(value) is not None

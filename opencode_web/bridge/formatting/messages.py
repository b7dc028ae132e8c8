"""Messages as text: what was said, and one line for each thing that was done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from opencode_web.bridge.formatting.plain import one_line

Json = dict[str, Any]

_TELLING = ("command", "filePath", "pattern", "path", "query", "url", "description", "name")
"""Arguments that say best what a tool call is about."""
OUTPUT_CHARACTERS = 300


def message(data: Json) -> str:
    """One message with a heading."""
    info = data["info"]
    heading = f"## {info['role']} · {info['id']}" + _at(info)
    if info.get("error"):
        heading += f"\n**{error_text(info['error'])}**"
    body = "\n".join(filter(None, map(part, data["parts"])))
    return f"{heading}\n{body or '(no text)'}"


def conversation(data: Sequence[Json]) -> str:
    """A history, oldest first."""
    return "\n\n".join(map(message, data)) if data else "No messages yet."


def turn(data: Sequence[Json]) -> str:
    """What came of one prompt: the calls of all its steps, then the text."""
    parts = [item for one in data for item in one["parts"]]
    calls = [part(item) for item in parts if item["type"] == "tool"]
    text = "\n\n".join(said(item) for item in parts if said(item))
    errors = [error_text(one["info"]["error"]) for one in data if one["info"].get("error")]
    pieces = [text, "\n".join(["Tools:", *calls]) if calls else "", *(f"Error: {error}" for error in errors)]
    return "\n\n".join(filter(None, pieces)) or "(The answer is empty.)"


def said(item: Json) -> str:
    """The text of a text part, nothing for what was not meant to be read."""
    if item["type"] != "text" or item.get("synthetic") or item.get("ignored"):
        return ""
    return str(item["text"]).strip()


def part(item: Json) -> str:
    """One part in a line or a few; nothing for what only the program needs."""
    match item["type"]:
        case "text":
            return said(item)
        case "reasoning":
            return f"(thought) {one_line(item['text'], 200)}" if item["text"].strip() else ""
        case "tool":
            return _tool(item)
        case "file":
            return f"- file {item.get('filename') or item.get('mime')}"
        case "patch":
            return f"- changed {', '.join(item['files'])}"
        case "subtask" | "agent":
            return f"- {item['type']} {item.get('agent') or item.get('name')}"
        case "compaction":
            return "- the conversation was compacted"
    return ""


def call_name(item: Json) -> str:
    """What a tool call is about, in a few words."""
    state = item["state"]
    given = state.get("input") or {}
    about = state.get("title") or next((str(given[name]) for name in _TELLING if given.get(name)), "")
    return f"{item['tool']} {one_line(about)}".strip()


def error_text(error: Json) -> str:
    """A message's error in words."""
    data = error.get("data") or {}
    return f"{error.get('name', 'Error')}: {data.get('message') or 'no reason was given'}"


def _tool(item: Json) -> str:
    state = item["state"]
    output = state.get("output") if state["status"] == "completed" else state.get("error")
    line = f"- {call_name(item)} ({state['status']})"
    return f"{line}: {one_line(str(output), OUTPUT_CHARACTERS)}" if output else line


def _at(info: Json) -> str:
    milliseconds = (info.get("time") or {}).get("created")
    if not milliseconds:
        return ""
    return f" · {datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"

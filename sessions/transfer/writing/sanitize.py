"""A conversation without a word of it: its shape, times, numbers and ids, as OpenCode's `--sanitize` has it.

What stays is named; all else goes, also what a later version adds.
"""

from __future__ import annotations

from typing import Any

from sessions.transfer.writing.document import Document

_STAYS = frozenset(
    "id sessionID messageID partID parentID projectID callID type role status tool mode agent providerID "
    "modelID variant version finish reason mime".split()
)
"""Keys whose texts say nothing of what the conversation is about."""
_DATA = frozenset({"input", "metadata", "structured", "options"})
"""Objects that hold anything; nothing of them stays."""


def sanitized(document: Document) -> Document:
    return Document(
        info=_object(document.info, "session", document.info["id"]),
        messages=[
            {
                "info": _object(entry["info"], entry["info"]["role"], entry["info"]["id"]),
                "parts": [_object(part, part["type"], part["id"]) for part in entry["parts"]],
            }
            for entry in document.messages
        ],
        runs=document.runs,
        children=[sanitized(child) for child in document.children],
    )


def _object(values: dict[str, Any], kind: str, id: str) -> dict[str, Any]:
    return {key: _value(value, key, kind, id) for key, value in values.items()}


def _value(value: Any, key: str, kind: str, id: str) -> Any:
    """`kind` and `id` are those of the session, message or part it is in."""
    if isinstance(value, str):
        what = kind if key == "text" else f"{kind}-{key}"
        return value if key in _STAYS or not value.strip() else f"[redacted:{what}:{id}]"
    if isinstance(value, list):
        return [_value(item, key, kind, id) for item in value]
    if isinstance(value, dict):
        if key in _DATA:
            return {"redacted": f"{kind}-{key}:{id}"} if value else value
        return _object(value, kind, id)
    return value

"""The common forms of an answer, the limit all of them have, and secrets that are not said again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

MAX_CHARACTERS = 50_000

Format = Callable[[Any], str]


def limited(text: str) -> str:
    """The text, cut at 50,000 characters with a last line that says so."""
    if len(text) <= MAX_CHARACTERS:
        return text
    note = f"\n\n[Cut off: this is the beginning of {len(text):,} characters. Ask for less at a time.]"
    return text[: MAX_CHARACTERS - len(note)] + note


def pretty(data: Any) -> str:
    """JSON for a reader; a text as it stands."""
    if data is None:
        return "Done."
    return data if isinstance(data, str) else json.dumps(data, indent=1, ensure_ascii=False)


def done(text: str) -> Format:
    """A format that says only this, unless the server answered that it did nothing."""
    return lambda data: "The server answered that nothing was done." if data is False else text


def bullets(line: Callable[[Any], str], empty: str = "None.") -> Format:
    """A format for a list: one bullet for each item, after their number."""

    def text(items: Sequence[Any]) -> str:
        if not items:
            return empty
        return "\n".join([f"{len(items)}:", *(f"- {line(item)}" for item in items)])

    return text


def named(*fields: str) -> Callable[[dict[str, Any]], str]:
    """A line that begins with the first field and goes on with the others that are there."""

    def line(item: dict[str, Any]) -> str:
        values = [one_line(str(item[field]), 160) for field in fields if item.get(field) not in (None, "")]
        return " · ".join(values)

    return line


def statuses(data: dict[str, dict[str, Any]]) -> str:
    """A map from a name to something with a `status` or a `type`."""
    if not data:
        return "None."
    lines = []
    for name, item in data.items():
        more = item.get("error") or item.get("message")
        state = str(item.get("status") or item.get("type"))
        lines.append(f"- {name}: {state}" + (f" ({one_line(str(more), 200)})" if more else ""))
    return "\n".join(lines)


def one_line(text: str, length: int = 120) -> str:
    """The text in one line of at most so many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


HIDDEN = "[hidden]"

_SECRET = re.compile(
    r"api[_-]?key|^key$|secret|password|^token$|access[_-]?token|refresh|authorization|bearer", re.IGNORECASE
)
_ALL_SECRET = frozenset({"headers", "environment", "env"})
"""Maps with names that anybody may choose: of these every value is one."""


def redacted(data: Any) -> Any:
    """The same configuration with what may be a secret hidden."""
    if isinstance(data, list):
        return [redacted(item) for item in data]
    if not isinstance(data, dict):
        return data
    return {name: _value(name, value) for name, value in data.items()}


def without(text: str, secrets: list[str]) -> str:
    """The text with each of these values hidden. Very short ones stand in any text and are left."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        if len(secret) >= 4:
            text = text.replace(secret, HIDDEN)
    return text


def secrets_in(value: Any) -> list[str]:
    """The texts in an argument that are to be hidden: it itself, or what a configuration has of them."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, dict):
        return []
    found = []
    for name, item in value.items():
        if isinstance(item, dict):
            found += [str(one) for one in item.values()] if name in _ALL_SECRET else secrets_in(item)
        elif isinstance(item, str) and _SECRET.search(name):
            found.append(item)
    return found


def _value(name: str, value: Any) -> Any:
    if isinstance(value, dict) and name in _ALL_SECRET:
        return dict.fromkeys(value, HIDDEN)
    if isinstance(value, str) and value and _SECRET.search(name):
        return HIDDEN
    return redacted(value)

"""Values that are secrets are not said again, whoever set them."""

from __future__ import annotations

import re
from typing import Any

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

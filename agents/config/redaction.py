"""What of a configuration is not shown, and how what was not shown is recognised when it comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext

from agents.config import jsonc

HIDDEN = "…"
"""Stands for a secret."""

_SECRET = re.compile(r"(api|access|private).?key|auth|token|secret|passw|credential|cookie", re.IGNORECASE)
_CREDENTIALS = re.compile(r"//[^/@\s]+@")
_COVERED = f"//{HIDDEN}@"
_SECRET_MAPS = frozenset({"headers", "environment", "env"})
"""Every value in these is taken for a secret: their names are anybody's."""
_ACTIONS = frozenset({"ask", "allow", "deny"})
"""Of rules, whose patterns may well speak of tokens."""


class Lost(ValueError):
    """A value that was not shown comes back where nothing is written that it could stand for; `key` is its
    place, with dots."""

    def __init__(self, key: str) -> None:
        super().__init__(
            gettext("%(key)s: %(hidden)s stands for what was not shown; give the value itself")
            % {"key": key, "hidden": repr(HIDDEN)}
        )
        self.key = key


def redacted(value: Any, *, within: str = "") -> Any:
    """A configuration, or a part of it, without keys, tokens and passwords."""
    if isinstance(value, dict):
        return {key: _member(key, item, within) for key, item in value.items()}
    if isinstance(value, list):
        return [redacted(item) for item in value]
    return _CREDENTIALS.sub(_COVERED, value) if isinstance(value, str) else value


def restored(patch: Mapping[str, Any], written: Any, key: str = "") -> dict[str, Any]:
    """A change, in which what was not shown is again what a file has there. Raises Lost.

    A key that the file does not have was shown out of another source: it is left out.
    """
    known = written if isinstance(written, dict) else {}
    found: dict[str, Any] = {}
    for name, value in patch.items():
        place = f"{key}.{name}" if key else name
        if isinstance(value, dict):
            found[name] = restored(value, known.get(name), place)
        elif not _hides(value):
            found[name] = value
        elif isinstance(value, str) and name not in known:
            continue
        else:
            found[name] = _uncovered(value, known.get(name), place)
    return found


def covered(text: str, other: str = "") -> str:
    """The text of a file without its secrets; of those that `other` has another way it is said. Raises
    JsoncError for a text that is not well formed."""
    if not text.strip():
        return text
    document = jsonc.Document(text)
    there = jsonc.Document(other).value if other.strip() else document.value
    pieces, at = [], 0
    for start, end, path in sorted(_secrets(document)):
        same = _at(document.value, path) == _at(there, path)
        pieces += [text[at:start], f'"{HIDDEN}"' if same else f'"{HIDDEN} (another)"']
        at = end
    return "".join([*pieces, text[at:]])


def _secrets(document: jsonc.Document) -> Iterator[tuple[int, int, jsonc.Path]]:
    """Where their values stand in the text."""
    for path, braces in document.objects.items():
        shown = _at(redacted(document.value), path)
        for member in braces.members:
            value = _at(document.value, (*path, member.key))
            if not isinstance(value, dict) and shown.get(member.key) != value:
                yield member.value, member.end, (*path, member.key)


def _at(value: Any, path: jsonc.Path) -> Any:
    for step in path:
        if not isinstance(value, dict | list):
            return None
        value = value.get(step) if isinstance(value, dict) else value[int(step)]
    return value


def _member(key: str, value: Any, within: str) -> Any:
    if isinstance(value, str) and (within in _SECRET_MAPS or _SECRET.search(key)) and value not in _ACTIONS:
        return HIDDEN
    return redacted(value, within=key)


def _hides(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_hides, value))
    if isinstance(value, dict):
        return any(map(_hides, value.values()))
    return isinstance(value, str) and (value == HIDDEN or _COVERED in value)


def _uncovered(value: Any, written: Any, place: str) -> Any:
    """The written value that this is shown for, in a list that of the same place."""
    if isinstance(value, list) and isinstance(written, list):
        there = [*written, *[None] * len(value)]
        return [
            _uncovered(item, there[index], f"{place}.{index}") if _hides(item) else item
            for index, item in enumerate(value)
        ]
    if value == redacted(written) or (value == HIDDEN and isinstance(written, str)):
        return written
    raise Lost(place)

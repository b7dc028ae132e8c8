"""JSON schemas of tools as every server takes them: whole and in place, for those that make a grammar of
them know no `$ref`."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keywords whose value names schemas; what is in it may have any name, `title` too."""
_DATA = frozenset({"const", "default", "enum", "examples", "example"})


_MOST, _DEEPEST = 20_000, 60
"""Schemas within one, and how deep: references to references grow without end. What is beyond is any
value."""


def in_place(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with each `$ref` replaced by what it names, without `$defs` and titles. One that names itself
    is any value at its second place. Nothing of it is shared: litellm rewrites schemas where they are."""
    return _Copy(schema).schema(schema, (), 0)


class _Copy:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST

    def schema(self, schema: Mapping[str, Any], within: tuple[str, ...], depth: int) -> dict[str, Any]:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            return {}
        out: dict[str, Any] = {}
        if isinstance(ref := schema.get("$ref"), str):
            named = None if ref in within else _named(ref, self._root)
            out = self.schema(named, (*within, ref), depth + 1) if isinstance(named, Mapping) else {}
        for key, value in schema.items():
            if key in ("$ref", "$defs", "definitions") or (key == "title" and isinstance(value, str)):
                continue
            if key in _NAMED and isinstance(value, Mapping):
                out[key] = {name: self._value(item, within, depth + 1) for name, item in value.items()}
            else:
                out[key] = deepcopy(value) if key in _DATA else self._value(value, within, depth + 1)
        return out

    def _value(self, value: Any, within: tuple[str, ...], depth: int) -> Any:
        if isinstance(value, Mapping):
            return self.schema(value, within, depth)
        if isinstance(value, list):
            return [self._value(item, within, depth + 1) for item in value] if depth <= _DEEPEST else []
        return value


def _named(ref: str, root: Mapping[str, Any]) -> Any:
    """What a reference into the same document names (RFC 6901), None elsewhere."""
    found: Any = root if ref.startswith("#") else None
    for step in ref.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found

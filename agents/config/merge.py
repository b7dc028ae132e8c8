"""How a nearer configuration file lies over a farther one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_JOINED = frozenset({"instructions", "plugin"})
"""Lists that add up over the files; every other list is replaced."""


_RULES = ("permission", "restrictions")


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """A new dictionary: objects are merged key by key, anything else in `over` replaces what was there."""
    merged = _merge_objects(base, over)
    for key in _JOINED & base.keys() & over.keys():
        if isinstance(base[key], list) and isinstance(over[key], list):
            merged[key] = [*base[key], *(item for item in over[key] if item not in base[key])]
    return merged


def _merge_objects(base: dict[str, Any], over: dict[str, Any], rules: bool = False) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        merged[key] = _merge_value(base.get(key), value, rules or key in _RULES)
    return merged


def _merge_value(base: Any, over: Any, rules: bool) -> Any:
    if rules and isinstance(base, str) and isinstance(over, dict):
        # `"bash": "deny"` under `"bash": {"git *": "allow"}` must go on denying the rest.
        base = {"*": base}
    if isinstance(base, dict) and isinstance(over, dict):
        return _merge_objects(base, over, rules)
    return over


def patched(base: Any, patch: Mapping[str, Any], rules: bool = False) -> dict[str, Any]:
    """What a file says after a person's change of it: as `merge`, but every list is replaced, and null takes
    a key away."""
    if rules and isinstance(base, str):
        base = {"*": base}
    merged = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = patched(merged.get(key), value, rules or key in _RULES)
        else:
            merged[key] = value
    return merged

"""What of a repository's configuration counts before it is trusted, and what has to wait. Pure.

What can run code, start a program, reach an address, read outside of the project, or allow something waits.
A key that is not named here waits too, so that a new one is covered before anybody thinks of it.
See docs/decisions/0007-trust.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from agents.config.limits import is_looser
from agents.config.schema import Config

KeyPath = tuple[str | int, ...]
"""The keys and indices that lead to a value."""

_FREE = frozenset(
    "$schema model small_model fallback username theme disabled_providers enabled_providers compaction "
    "watcher server keybinds".split()
)
"""Top keys that neither run, reach nor allow anything. (`server` and `keybinds` count in the user's own files
only.)"""
_AGENT = frozenset(
    "mode model fallback variant prompt description temperature top_p steps maxSteps disable color "
    "hidden".split()
)
_KNOWN = frozenset(field.alias or name for name, field in Config.model_fields.items())
_ENTRIES = frozenset("provider mcp lsp formatter experimental".split())
"""Keys whose entries are named one by one."""
_SWITCHES = frozenset("mcp lsp formatter browser".split())
_OFF = ({"disabled": True}, {"enabled": False})
_SHELL = "!`"


def restrain(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[KeyPath]]:
    """The part of a configuration that counts without trust, and the places of what was left out.

    Of rules only those that ask or deny are kept, as `restrictions`: they can make the user's rules stricter
    and never looser. Limits become `ceilings` likewise, and those that lift what holds by itself wait.
    """
    kept: dict[str, Any] = {}
    held: list[KeyPath] = []
    for key, value in values.items():
        if key in _SECTIONS:
            kept |= _SECTIONS[key](value, (key,), held)
        elif key in _FREE or key not in _KNOWN or (key in _SWITCHES and _is_off(value)):
            kept[key] = value  # nothing acts on a key that is not known
        else:
            held += _places(key, value)
    return kept, held


def _places(key: str, value: Any) -> list[KeyPath]:
    return [(key, name) for name in value] if key in _ENTRIES and isinstance(value, dict) else [(key,)]


def _is_off(value: Any) -> bool:
    """`false`, or entries that do nothing but switch something off."""
    return value is False or (isinstance(value, dict) and all(entry in _OFF for entry in value.values()))


def _permission(value: Any, path: KeyPath, held: list[KeyPath]) -> dict[str, Any]:
    """Without what allows; what is no action counts as "ask", as everywhere."""
    if not isinstance(value, dict):
        rules = _rules({"*": value}, path, held)
        return {"restrictions": rules} if rules else {}
    kept: dict[str, Any] = {}
    for name, rule in value.items():
        if isinstance(rule, dict):
            kept |= {name: rules} if (rules := _rules(rule, (*path, name), held)) else {}
        else:
            kept |= _rules({name: rule}, path, held)
    return {"restrictions": kept} if kept else {}


def _rules(rules: Mapping[str, Any], path: KeyPath, held: list[KeyPath]) -> dict[str, str]:
    held += [(*path, name) for name, action in rules.items() if action == "allow"]
    return {
        name: "deny" if action == "deny" else "ask" for name, action in rules.items() if action != "allow"
    }


def _tools(value: Any, path: KeyPath, held: list[KeyPath]) -> dict[str, Any]:
    if not isinstance(value, dict):
        held.append(path)
        return {}
    held += [(*path, name) for name, on in value.items() if on is True]
    return {str(path[-1]): {name: on for name, on in value.items() if on is not True}}


def _agents(value: Any, path: KeyPath, held: list[KeyPath]) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {"agent": value}
    return {"agent": {name: _agent(entry, (*path, name), held) for name, entry in value.items()}}


def _agent(entry: Any, path: KeyPath, held: list[KeyPath]) -> Any:
    """Other keys of an agent are options for the model's provider; a library may take an address there."""
    if not isinstance(entry, dict):
        return entry
    kept: dict[str, Any] = {}
    for key, value in entry.items():
        if key in _AGENT:
            kept[key] = value
        elif key in ("permission", "restrictions"):
            kept |= _permission(value, (*path, key), held)
        elif key == "tools":
            kept |= _tools(value, (*path, key), held)
        else:
            held.append((*path, key))
    return kept


def _commands(value: Any, path: KeyPath, held: list[KeyPath]) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {"command": value}
    running = [name for name, entry in value.items() if runs_shell(entry)]
    held += [(*path, name) for name in running]
    return {"command": {name: entry for name, entry in value.items() if name not in running}}


def runs_shell(entry: Any) -> bool:
    """Whether a command, as an entry or as the text of a file, has shell lines in its template."""
    template = entry.get("template") if isinstance(entry, dict) else entry
    return isinstance(template, str) and _SHELL in template


def _instructions(value: Any, path: KeyPath, held: list[KeyPath]) -> dict[str, Any]:
    if not isinstance(value, list):
        return {"instructions": value}
    held += [(*path, index) for index, item in enumerate(value) if not _inside(item)]
    return {"instructions": [item for item in value if _inside(item)]}


def _skills(value: Any, path: KeyPath, held: list[KeyPath]) -> dict[str, Any]:
    paths = value.get("paths") if isinstance(value, dict) else None
    if not isinstance(paths, list) or len(value) > 1:
        held.append(path)
        return {}
    held += [(*path, "paths", index) for index, item in enumerate(paths) if not _inside(item)]
    return {"skills": {"paths": [item for item in paths if _inside(item)]}}


def _limits(value: Any, path: KeyPath, held: list[KeyPath]) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    for name, most in value.items():
        entries = most.items() if name == "calls" and isinstance(most, dict) else [("", most)]
        held += [
            (*path, name, pattern) if pattern else (*path, name)
            for pattern, number in entries
            if is_looser(name, pattern, number)
        ]
    return {"ceilings": value}


def _inside(item: Any) -> bool:
    """Whether a path or glob stays below the folder it is relative to. (Links are the reader's to follow.)"""
    if not isinstance(item, str) or "://" in item or item.startswith(("~", "$")):
        return False
    path = PurePosixPath(item)
    return not path.is_absolute() and ".." not in path.parts


_SECTIONS: dict[str, Callable[[Any, KeyPath, list[KeyPath]], dict[str, Any]]] = {
    "permission": _permission,
    "restrictions": _permission,
    "tools": _tools,
    "agent": _agents,
    "command": _commands,
    "instructions": _instructions,
    "skills": _skills,
    "limits": _limits,
    "ceilings": _limits,
}

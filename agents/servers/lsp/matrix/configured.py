"""The language servers of a configuration (OpenCode's `lsp` key): the table as changed by it, and its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.config.schema import Config, LspConfig
from agents.servers.lsp.matrix.row import Row
from agents.servers.lsp.matrix.table import BUILTIN


def rows(config: Config) -> list[Row]:
    """None unless the configuration has switched language servers on."""
    if config.lsp is False:
        return []
    entries: Mapping[str, LspConfig] = {} if config.lsp is True else config.lsp
    known = {row.id for row in BUILTIN}
    found = [_changed(row, entries.get(row.id)) for row in BUILTIN]
    own = (_own(name, entry) for name, entry in entries.items() if name not in known)
    return [row for row in (*found, *own) if row is not None]


def _changed(row: Row, entry: LspConfig | None) -> Row | None:
    """One with an entry needs no marker in the project: it was asked for."""
    if entry is None:
        return row
    if entry.get("disabled"):
        return None
    changes: dict[str, Any] = {"named": True, "fallback": True}
    if command := entry.get("command"):
        changes |= {"commands": (tuple(command),), "own_command": True}
    if extensions := entry.get("extensions"):
        changes["files"] = tuple(extensions)
    if initialization := entry.get("initialization"):
        changes["initialization"] = _over(row.initialization, initialization)
    changes["environment"] = tuple((entry.get("env") or {}).items())
    changes["sandbox"] = entry.get("sandbox") is True
    return replace(row, **changes)


def _over(settings: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """Objects key by key, anything else replaces what was there."""
    merged = dict(settings)
    for key, value in changed.items():
        before = settings.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            value = _over(before, value)
        merged[key] = value
    return merged


def _own(name: str, entry: LspConfig) -> Row | None:
    """One that the table does not have: its root is the worktree, as in OpenCode."""
    command, files = entry.get("command"), entry.get("extensions")
    if not command or not files or entry.get("disabled"):
        return None
    return _changed(Row(name, name, (), ()), entry)

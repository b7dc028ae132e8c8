"""Servers that are told which TypeScript to use: by themselves they would take, and run, the project's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agents.lsp.finding.places import folder_of, is_within, on_path, upward
from agents.lsp.matrix.row import TSDK, TSSERVER, Row

_SERVER = "typescript/lib/tsserver.js"


def wants_typescript(row: Row) -> bool:
    return _mentions(row.initialization)


def told(row: Row, server: Path) -> Mapping[str, Any]:
    """The row's initialization with this `tsserver.js`."""
    places = {TSSERVER: str(server), TSDK: str(server.parent)}
    return {key: _replaced(value, places) for key, value in row.initialization.items()}


def typescript_of(row: Row, program: Path, root: Path, worktree: Path) -> Path | None:
    """The `tsserver.js` beside the program, on PATH (`tsc`), in our own folder, else the project's."""
    servers = (place / "node_modules" / _SERVER for place in _places(row, program, root, worktree))
    return next((server for server in servers if server.is_file()), None)


def _places(row: Row, program: Path, root: Path, worktree: Path) -> Iterator[Path]:
    compiler = on_path("tsc", worktree)
    for outside in (program, compiler):
        if outside is not None:
            folders = outside.resolve().parents
            yield from (folder for folder in folders if not is_within(folder / "node_modules", worktree))
    yield folder_of(row)
    yield from upward(root, worktree)


def _mentions(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_mentions, value.values()))
    return value in (TSSERVER, TSDK) if isinstance(value, str) else False


def _replaced(value: Any, by: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _replaced(inner, by) for key, inner in value.items()}
    return by.get(value, value) if isinstance(value, str) else value

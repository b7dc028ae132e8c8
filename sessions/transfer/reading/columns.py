"""Rows of OpenCode's database as the records they are on the wire."""

from __future__ import annotations

import sqlite3
from typing import Any

from .json_file import parse
from .records import MAX_RECORD, Problem, Unreadable, Wire

_JSON = {"permission": "permission", "model": "model", "metadata": "metadata"}
_TEXT = {"slug": "slug", "title": "title", "version": "version", "agent": "agent"}
_SUMS = {
    "input": "tokens_input",
    "output": "tokens_output",
    "reasoning": "tokens_reasoning",
    "read": "tokens_cache_read",
    "write": "tokens_cache_write",
}


def info_of(row: sqlite3.Row) -> Wire:
    """The session as OpenCode has it on the wire."""
    found = columns(row)
    info: Wire = {"id": found["id"], "projectID": found.get("project_id"), "directory": found["directory"]}
    info |= {key: found[column] for key, column in _TEXT.items() if column in found}
    for key, column in _JSON.items():
        if isinstance(value := parsed(found.get(column) or "", any_kind=True), dict | list):
            info[key] = value
    info["parentID"] = found.get("parent_id")
    info["time"] = {
        "created": found.get("time_created"),
        "updated": found["time_updated"],
        "archived": found.get("time_archived"),
    }
    counts = {key: found.get(f"summary_{key}") for key in ("additions", "deletions", "files")}
    if all(isinstance(count, int) for count in counts.values()):
        info["summary"] = counts
    if "tokens_input" in found:
        sums = {key: found.get(column) or 0 for key, column in _SUMS.items()}
        info["tokens"] = {**sums, "cache": {"read": sums.pop("read"), "write": sums.pop("write")}}
        info["cost"] = found.get("cost") or 0
    return info


def columns(row: sqlite3.Row) -> Wire:
    return {key: row[key] for key in row.keys()}  # noqa: SIM118 (a row iterates its values)


def parsed(data: Any, *, any_kind: bool = False) -> Any:
    """The JSON of a column, or the Problem with it."""
    if data is None:
        return Problem("", f"larger than {MAX_RECORD // 1024 // 1024} MB")
    try:
        found = parse(data if isinstance(data, bytes | str) else str(data))
    except Unreadable as error:
        return Problem("", str(error))
    return found if any_kind or isinstance(found, dict) else Problem("", "holds no JSON object")

"""Permission requests as cards: what exactly the agent wants to do, and what each answer means."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessions.diffs.hunks import FileDiff, hunks
from sessions.diffs.parse import parse
from sessions.models import PermissionRequest, Session
from sessions.rendering.html import html
from sessions.rendering.text import bounded, visible
from sessions.rendering.tools import relative
from sessions.store import permissions

from .patches import MANY, Proposed, is_patch, patch
from .table import Shown, show

Metadata = Mapping[str, Any]

MOST_ROWS = 2000
"""Rows of a proposed change that are shown."""
COLOURED_WHOLE = 12_000
"""Characters of both texts up to which they are coloured as a whole: this runs on the ORM's thread."""


@dataclass(frozen=True, slots=True)
class Question:
    """What `templates/permissions/request.html` shows.

    `call_id` is the tool call that waits for it, `diff` or `code` what would be done, `facts` are labelled
    details, `files` those of a patch, `rules` what "always" would add.
    """

    id: str
    call_id: str
    title: str
    icon: str
    subject: str = ""
    code: str = ""
    diff: Shown | None = None
    files: tuple[Proposed, ...] = ()
    additions: int = 0
    deletions: int = 0
    facts: tuple[tuple[str, str], ...] = ()
    rules: tuple[str, ...] = ()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class _Kind:
    title: str
    icon: str
    details: Callable[[PermissionRequest, str], dict[str, Any]] = field(default=lambda row, root: {})


def permission_list(session: Session, *, oob: bool = True) -> str:
    """What the agent asks, of this session and of those it started."""
    rows = permissions.pending_below(session.id)
    questions = [question(row, session) for row in rows]
    return html("permissions/list.html", questions=questions, session=session, oob=oob)


def question(row: PermissionRequest, session: Session) -> Question:
    """One request as it is shown on the page of a session (its own, or one above it)."""
    kind = _KINDS.get(row.permission) or _Kind(f"Use {visible(row.permission)}?", "tool", _anything)
    if row.permission == "edit" and "command" in row.metadata:
        kind = _Kind("Let a command write a protected file?", "terminal", _command)
    rules = tuple(f"{row.permission}: {visible(pattern)}" for pattern in row.always)
    origin = visible(row.session.title) if row.session_id != session.id else ""
    details = kind.details(row, session.project.worktree)
    shown = {"title": kind.title, "rules": rules, "origin": origin, **details}
    return Question(row.id, row.call_id, icon=kind.icon, **shown)


def _edit(row: PermissionRequest, root: str) -> dict[str, Any]:
    data = row.metadata
    name = relative(str(data.get("filepath") or ", ".join(row.patterns)), root)
    if is_patch(data):
        return patch(data, MOST_ROWS) or {"title": MANY, "code": bounded(visible(str(data.get("diff", ""))))}
    diff, before, after = _proposal(data)
    counts = {"additions": diff.additions, "deletions": diff.deletions}
    if not diff.hunks:
        return {"subject": visible(name), "code": bounded(visible(str(data.get("diff", "")))), **counts}
    table = show(diff, visible(name), "unified", before=before, after=after, limit=MOST_ROWS)
    cut = table.left_out or diff.truncated
    facts = (("Not shown", f"{table.left_out or 'some'} more lines of this change"),) if cut else ()
    return {"subject": visible(name), "diff": table, "facts": facts, **counts}


def _proposal(data: Metadata) -> tuple[FileDiff, str | None, str | None]:
    """From both texts where the tool gave them, else from its patch."""
    given = data.get("filediff")
    filediff = given if isinstance(given, dict) else {}
    before, after = filediff.get("before"), filediff.get("after")
    if isinstance(before, str) and isinstance(after, str):
        whole = len(before) + len(after) <= COLOURED_WHOLE
        diff = hunks(before.encode("utf-8", "replace"), after.encode("utf-8", "replace"))
        return diff, before if whole else None, after if whole else None
    return parse(str(data.get("diff", ""))), None, None


def _command(row: PermissionRequest, root: str) -> dict[str, Any]:
    data = row.metadata
    facts = []
    if data.get("workdir") and data["workdir"] != root:
        facts.append(("In folder", visible(str(data["workdir"]))))
    if row.permission != "bash" or len(row.patterns) > 1:
        facts.append((_ASKS_ABOUT.get(row.permission, "Asks about"), _listed(row.patterns)))
    return {
        "subject": visible(str(data.get("description", ""))),
        "code": bounded(visible(str(data.get("command", "")))),
        "facts": tuple(facts),
    }


def _file(row: PermissionRequest, root: str) -> dict[str, Any]:
    path = str(row.metadata.get("filepath") or row.metadata.get("path") or ", ".join(row.patterns))
    return {"subject": visible(relative(path, root))}


def _outside(row: PermissionRequest, root: str) -> dict[str, Any]:
    if "command" in row.metadata:
        return _command(row, root)
    return {**_file(row, root), "facts": (("Folder", _listed(row.patterns)),)}


def _search(row: PermissionRequest, root: str) -> dict[str, Any]:
    where = row.metadata.get("path")
    facts = (("In", visible(str(where))),) if where else ()
    return {"code": _listed(row.patterns), "facts": facts}


def _page(row: PermissionRequest, root: str) -> dict[str, Any]:
    url = str(row.metadata.get("url") or "") or _listed(row.patterns)
    return {"code": bounded(visible(url), limit=8000)}


def _private(row: PermissionRequest, root: str) -> dict[str, Any]:
    """An address of this machine or its network, which the page of a stranger could have named."""
    known = [
        (label, visible(str(row.metadata[key])))
        for label, key in (("Host", "host"), ("Address", "address"))
        if row.metadata.get(key)
    ]
    return {
        **_page(row, root),
        "subject": "It is on this machine or its private network.",
        "facts": tuple(known),
    }


def _query(row: PermissionRequest, root: str) -> dict[str, Any]:
    return {"code": bounded(_listed(row.patterns), limit=8000)}


def _skill(row: PermissionRequest, root: str) -> dict[str, Any]:
    return {"subject": _listed(row.patterns)}


def _anything(row: PermissionRequest, root: str) -> dict[str, Any]:
    data = json.dumps(row.metadata, ensure_ascii=False, indent=2) if row.metadata else ""
    return {"subject": _listed(row.patterns), "code": bounded(visible(data), limit=8000)}


def _errand(row: PermissionRequest, root: str) -> dict[str, Any]:
    data = row.metadata
    return {
        "subject": visible(f"@{data.get('subagent_type', '')}: {data.get('description', '')}"),
        "code": bounded(visible(str(data.get("prompt", ""))), limit=8000),
    }


def _repeated(row: PermissionRequest, root: str) -> dict[str, Any]:
    given = json.dumps(row.metadata.get("input") or {}, ensure_ascii=False, indent=2)
    return {
        "subject": f"{visible(str(row.metadata.get('tool', '')))}, three times with the same input",
        "code": bounded(visible(given), limit=8000),
    }


def _listed(patterns: list[str]) -> str:
    return visible("\n".join(patterns))


_ASKS_ABOUT = {"bash": "Runs", "external_directory": "Outside of the project", "edit": "Writes"}
_KINDS = {
    "edit": _Kind("Change this file?", "edit", _edit),
    "bash": _Kind("Run this command?", "terminal", _command),
    "read": _Kind("Read this file?", "file", _file),
    "list": _Kind("List this folder?", "folder", _file),
    "glob": _Kind("Find files by name?", "search", _search),
    "grep": _Kind("Search in files?", "search", _search),
    "webfetch": _Kind("Fetch this page?", "globe", _page),
    "private_address": _Kind("Fetch from a private address?", "shield", _private),
    "websearch": _Kind("Search the web for this?", "globe", _query),
    "codesearch": _Kind("Search for this code?", "globe", _query),
    "skill": _Kind("Load this skill?", "spark", _skill),
    "external_directory": _Kind("Leave the project’s folder?", "folder", _outside),
    "task": _Kind("Send this subagent?", "spark", _errand),
    "doom_loop": _Kind("Go on repeating the same call?", "alert", _repeated),
}

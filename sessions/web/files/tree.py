"""The tree of a project's files: rows of one folder at a time, those that a few letters mean, and the marks
on them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from sessions.changes import vcs
from sessions.changes.roots import roots_among
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.models.ledger import pack_path, shown
from sessions.core.store import ledger
from sessions.project import browsing, search
from sessions.web.respond import fragment, refused
from sessions.web.roots import Root, named, roots

AT_ONCE = 400
"""Rows of a folder; the next come when they are scrolled to."""
MOST_FOUND = 100
MOST_MARKS = 5000

_GIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Row:
    """`path` is as seen from the session, packed (`ledger.pack_path`); `folder` leads to it. One with `root`,
    which says how it was added, is a folder beside the project."""

    name: str
    path: str
    is_folder: bool
    ignored: bool = False
    folder: str = ""
    root: str = ""


@require_GET
async def tree(request: HttpRequest, project_id: str) -> HttpResponse:
    """What is in `?path=` (the worktree without it, and the folders beside it that `?session=` has), from row
    `?from=` on; with `?q=` the files anywhere in all of them that these letters mean."""
    project, session, root, path = await named(project_id, request.GET.dict())
    query = request.GET.get("q", "").strip()
    if query:
        there = await asyncio.to_thread(roots, project, session)
        rows, more = [row for root in there for row in await _found(root, query)], 0
    else:
        first = request.GET.get("from", "0")
        begin = int(first) if first.isdecimal() and len(first) < 9 else 0
        try:
            rows, more = await asyncio.to_thread(_listed, root, path, begin)
            if not path and not more:
                rows += map(_row, (await asyncio.to_thread(roots, project, session))[1:])
        except browsing.Unreadable as problem:
            return refused(str(problem))
    rest = urlencode({"path": pack_path(path), "session": session.id if session else "", "from": more})
    return fragment("files/rows.html", project=project, rows=rows, more=more and rest, query=query)


def _row(root: Root) -> Row:
    access = gettext("read-only") if root.locked else gettext("may be written")
    return Row(root.name, pack_path(root.seen("")), True, folder=shown(str(root.path)), root=access)


async def _found(root: Root, query: str) -> list[Row]:
    try:
        paths = await search.find_files(root.path, query, limit=MOST_FOUND)
    except search.SearchFailed:
        return []
    names = map(PurePosixPath, paths)
    return [
        Row(path.name, root.seen(str(path)), False, folder=str(root.name / path.parent)) for path in names
    ]


def _listed(root: Root, path: str, begin: int) -> tuple[list[Row], int]:
    """Rows, and from which on there are more (0 for none). Raises Unreadable."""
    found = browsing.entries(root.path, path)
    found.sort(key=lambda entry: (not entry.is_folder, entry.name.lower(), entry.name))
    part = found[begin : begin + AT_ONCE]
    ignored = search.ignored(root.path, [entry.path for entry in part])
    rows = [
        Row(
            entry.name,
            pack_path(root.seen(entry.path.relative_to(root.path.resolve()))),
            entry.is_folder,
            entry.path in ignored,
        )
        for entry in part
    ]
    return rows, begin + AT_ONCE if len(found) > begin + AT_ONCE else 0


@require_GET
async def marks(request: HttpRequest, project_id: str) -> HttpResponse:
    """`{"git": {path: state}, "session": [path], "roots": [path]}`: what git says of files (a folder's path
    ends with a slash), those that `?session=` has changed, and the folders that it has beside the project."""
    project, session, *_ = await named(project_id, request.GET.dict())
    there = await asyncio.to_thread(roots, project, session)
    states = await asyncio.gather(*(asyncio.to_thread(_states, root) for root in there))
    changed = await in_db(_changed, project, request.GET.get("session", ""))
    git = {path: state for found in states for path, state in found.items()}
    return JsonResponse({"git": git, "session": changed, "roots": [root.seen("") for root in there[1:]]})


def _states(root: Root) -> dict[str, str]:
    """Of a folder beside the project where it is the root of a repository."""
    if root.folder and not (root.path / ".git").exists():
        return {}
    try:
        found = vcs.states(vcs.Checkout(root.path), seconds=_GIT_SECONDS)
    except vcs.GitError:  # no repository, or one too large to be asked
        return {}
    before = f"{root.path}/" if root.folder else ""
    return {shown(f"{before}{path}"): state for path, state in list(found.items())[:MOST_MARKS]}


def _changed(project: Project, session_id: str) -> list[str]:
    """As seen from the session: what lies in a folder beside the project has a whole path."""
    rows = ledger.by_tools(session_id) if session_id else ledger.by_tools("none")
    found = rows.order_by().values_list("project_id", "path").distinct()[:MOST_MARKS]
    roots = roots_among(project, {root for root, _ in found})
    return [shown(roots.seen(roots.by_id(root), path)) for root, path in found]

"""Verdicts by click: undo of hunks, files and scopes, redo, and the settling of conflicts."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_POST

from sessions.changes.operations import hunks
from sessions.changes.operations.lock import Refused
from sessions.changes.review.conflicts import chosen, sides
from sessions.changes.review.marking import hunk_mark, toggled
from sessions.changes.review.verdicts import ReviewedFile, judge
from sessions.changes.undo.plan import WRITES
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.principal import acting, actor
from sessions.core.store import marks, operations
from sessions.web.access import session_of
from sessions.web.respond import beside, done, fragment
from sessions.web.review.display import undoing
from sessions.web.review.display.files import file_id
from sessions.web.review.display.undoing import previewed
from sessions.web.review.pages.answers import Asked, answered, asked

MOST_WORDS = 2000
Picks = dict[str, Collection[str] | None]


async def undo(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """POST takes back `hunk`s of a `path`, or the files named by `path`, with `words` for the agent; kept
    hunks stay; with `noted` the answer is a note. GET shows what that would do to all files of the scope."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session)
    if request.method != "POST":
        return await _dialog(shown)
    paths = request.POST.getlist("path")
    listed, noted = "listed" in request.POST, "noted" in request.POST
    where = "scope-undo" if listed else file_id(paths[0] if paths else "")
    if not paths:
        return beside(where, gettext("Choose a file."))
    picks = await asyncio.to_thread(_picks, shown, paths, request.POST)
    try:
        operation = await hunks.undo(session, shown.scope, picks, words=_words(request), actor=actor(request))
    except Refused as error:
        return _note(session, str(error)) if noted else beside(where, str(error))
    wrote = _wrote(operation)
    note = undoing.ended(gettext_noop("Undone"), operation.outcome)
    if listed or noted:
        template = "scope_undone" if listed else "toast"
        return _note(session, note, operation if wrote else None, template=template)
    return await answered(shown, paths, operation, note if wrote else "")


@require_POST
async def redo(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Put back a `hunk` of `path`, or take back `operation`, or what undid all of `path`; to a note (no path)
    the answer is a note.
    """
    session = await session_of(project_id, session_id)
    path = request.POST.get("path", "")
    shown = await asked(request, session)
    named = request.POST.get("operation", "")
    if named and await in_db(operations.get, project_id, named) is None:
        raise Http404(gettext("This is not known here."))
    ids = [named] if named else await asyncio.to_thread(_undone_by, shown, path)
    done: Operation | None = None
    try:
        if hunk := request.POST.get("hunk", ""):
            done = await hunks.put_back(session, shown.scope, path, [hunk], actor=actor(request))
            ids = []
        for operation in ids:
            done = await hunks.redo(session, operation, actor=actor(request))
    except Refused as error:
        return beside(file_id(path), str(error)) if path else _note(session, str(error))
    if done is None:
        return beside(file_id(path), gettext("There is nothing to redo."))
    note = undoing.ended(
        gettext_noop("Redone") if done.kind == "redo" else gettext_noop("Undone"), done.outcome
    )
    if not path:
        return _note(session, note, done)
    return await answered(shown, [path], done, note)


@require_POST
async def resolve(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """What a person made of the conflict of a `hunk` of `path`: `choice-N` is file, other or hand (`text-N`);
    `seen` is the file they saw."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session)
    path, hunk = request.POST.get("path", ""), request.POST.get("hunk", "")
    file = shown.found.file(path)
    if file is None:
        return beside(file_id(path), gettext("This file is no longer among the changes."))
    both = await asyncio.to_thread(sides, file, shown.found, hunk)
    seen = request.POST.get("seen", "")
    if both is None or both.seen != seen:
        return beside(
            file_id(path), gettext("The file has been changed since you opened it. Press Undo once more.")
        )
    content = chosen(both, request.POST.dict())
    try:
        operation = await hunks.resolve(
            session, shown.scope, path, [hunk], content, seen, words=_words(request), actor=actor(request)
        )
    except Refused as error:
        return beside(file_id(path), str(error))
    return await answered(shown, [path], operation, undoing.ended(gettext_noop("Written"), operation.outcome))


def _picks(shown: Asked, paths: Collection[str], given: QueryDict) -> Picks:
    """What is to be taken back: the hunks named, or of each file all that is not kept."""
    if "hunk" in given:
        return {path: given.getlist("hunk") for path in list(paths)[:1]}
    files = [file for file in shown.found.files if file.key in paths]
    return {file.key: _not_kept(shown, file) for file in files}


def _not_kept(shown: Asked, file: ReviewedFile) -> Collection[str] | None:
    """None for all of it."""
    only = shown.found.only.get(file.key)
    if not shown.marks.kept and only is None:
        return None
    hunks = [one.key for step in judge(file, shown.found) for one in step.hunks.values()]
    here = hunks if only is None else [pick for pick in hunks if pick in only]
    left = [pick for pick in here if hunk_mark(file, pick) not in shown.marks.kept]
    return None if len(left) == len(hunks) else left


def _undone_by(shown: Asked, path: str) -> list[str]:
    """The operations that took back a file's hunks, the newest first."""
    file = shown.found.file(path)
    if file is None:
        return []
    found = {one.operation for step in judge(file, shown.found) for one in step.hunks.values()}
    return sorted(found - {""}, reverse=True)


async def _dialog(shown: Asked) -> HttpResponse:
    every = [file.key for file in shown.found.files if file.state not in ("gone", "missing")]
    picks = await asyncio.to_thread(_picks, shown, every, QueryDict())
    wanted = {key: hunks for key, hunks in picks.items() if hunks is None or hunks}
    plans = await hunks.preview(shown.session, shown.scope, wanted)
    return fragment(
        "review/scope_undo.html",
        base=shown.session.get_absolute_url(),
        files=await asyncio.to_thread(previewed, plans, shown.found),
        query=shown.found.query(),
        kept=len(every) - len(wanted),
        problem=shown.found.problem,
    )


def _note(
    session: Session, note: str, operation: Operation | None = None, *, template: str = "toast"
) -> HttpResponse:
    """For the corner of the page, with a way back from `operation`."""
    base = session.get_absolute_url()
    return fragment(f"review/{template}.html", base=base, note=note, operation=operation)


def _wrote(operation: Operation) -> bool:
    """Without that there is nothing to redo, and what is beside the hunks says why."""
    return any(entry["outcome"] in WRITES for entry in operation.outcome)


def _words(request: HttpRequest) -> str:
    return request.POST.get("words", "").strip()[:MOST_WORDS]


@require_POST
async def keep(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Kept, for all who see it: `on` is 1 or 0, `path` a file of the scope (none: all of them), `hunk` one of
    its hunks (none: the whole file)."""
    return await _marked(request, await session_of(project_id, session_id), "kept")


@require_POST
async def view(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Viewed, which is one's own; the same."""
    return await _marked(request, await session_of(project_id, session_id), "viewed")


async def _marked(request: HttpRequest, session: Session, kind: str) -> HttpResponse:
    shown = await asked(request, session)
    path = request.POST.get("path", "")
    add, remove = await asyncio.to_thread(
        _keys, shown, kind, path, request.POST.get("hunk"), request.POST.get("on") == "1"
    )
    await in_db(marks.put, session, kind, acting.get(), add=add, remove=remove)
    return await answered(shown, [path]) if path else done()


def _keys(shown: Asked, kind: str, path: str, hunk: str | None, on: bool) -> tuple[set[str], set[str]]:
    """The keys of marks to set and to take."""
    add: set[str] = set()
    remove: set[str] = set()
    had = shown.marks.of(kind)
    for file in shown.found.files:
        if not path or file.key == path:
            new, gone = toggled(file, judge(file, shown.found), hunk if path else None, on, had)
            add |= new
            remove |= gone
    return add, remove

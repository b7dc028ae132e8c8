"""The panel of what people know of a project: its actions, todos, notes and plans, and what is run in a new
worktree."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.core.above import agents
from sessions.core.db import in_db
from sessions.core.models import Pin, Project, ProjectNote, Session
from sessions.core.principal import acting
from sessions.core.store import events, knowledge, pins, projects
from sessions.core.store.knowledge import Kind, Refused
from sessions.core.wire.project import ProjectChange, ProjectCommands
from sessions.project.proposals import proposals
from sessions.rendering.blocks import render_whole
from sessions.terminals.lines import run_line, running
from sessions.terminals.registry import CannotOpen
from sessions.web.access import Located, located
from sessions.web.respond import beside, done, fragment, late, noted, removed, toast

LONGEST_START = 10_000


async def _place(request: HttpRequest, project_id: str) -> Located:
    """Of the session that the page shows, else of the project."""
    given = (request.POST if request.method == "POST" else request.GET).copy()
    given["project"] = project_id
    place = await located(given)
    if place.project.id != project_id:
        raise Http404(gettext("This session is not here any more."))
    return place


@require_GET
async def show(request: HttpRequest, project_id: str) -> HttpResponse:
    """The panel, for `session` if there is one."""
    return fragment("knowledge/panel.html", **await _context(await _place(request, project_id)))


async def _list(place: Located) -> HttpResponse:
    return fragment("knowledge/list.html", **await _context(place))


async def _removed(place: Located, name: str, by: str, values: Mapping[str, Any]) -> HttpResponse:
    """The list, and a toast whose button posts `values` to the view `by`."""
    undo = reverse(by, args=(place.project.id,))
    return removed("knowledge/list.html", name, undo, values, **await _context(place))


async def _context(place: Located) -> Mapping[str, Any]:
    found = await in_db(_rows, place)
    texts = await asyncio.to_thread(_rendered, found["notes"])
    known = {action.command for action in found["actions"]} | {action.name for action in found["actions"]}
    proposed = await asyncio.to_thread(proposals, Path(found["home"].worktree))
    return {
        **found,
        "project": place.project,
        "session": place.session,
        "notes": [(note, texts[note.id]) for note in found["notes"]],
        "proposed": [one for one in proposed if not {one.name, one.command} & known],
        "kinds": [(Kind.NOTE, gettext("Note")), (Kind.PLAN, gettext("Plan"))],
    }


def _rows(place: Located) -> dict[str, Any]:
    rows, home = knowledge.notes(place.project), knowledge.home(place.project)
    return {
        "home": home,
        "actions": knowledge.actions(place.project),
        "todos": [row for row in rows if row.kind == Kind.TODO],
        "notes": [row for row in rows if row.kind != Kind.TODO],
        "pinned": pins.of_notes(place.session.id) if place.session else {},
        "start": home.commands.get("start", ""),
        "is_git": home.vcs == "git",
    }


def _rendered(rows: list[ProjectNote]) -> dict[str, SafeString]:
    return {row.id: mark_safe(render_whole(row.text)) for row in rows}  # noqa: S308 (the renderer escapes)


@require_POST
async def write(request: HttpRequest, project_id: str) -> HttpResponse:
    """`kind`, `title` and `text` of a new note, or of `note`."""
    place = await _place(request, project_id)
    form = request.POST
    text = form.get("text", "").replace("\r\n", "\n")  # as forms encode line breaks
    try:
        await in_db(
            knowledge.write,
            place.project,
            form.get("kind", Kind.NOTE),
            form.get("title", ""),
            text,
            note_id=form.get("note", ""),
            actor=acting.get(),
        )
    except Refused as problem:
        return beside("knowledge", str(problem))
    return await _list(place)


@require_POST
async def tick(request: HttpRequest, project_id: str) -> HttpResponse:
    """The todo `note` is done with `done`, else it is not."""
    place = await _place(request, project_id)
    await in_db(knowledge.tick, place.project, request.POST.get("note", ""), "done" in request.POST)
    return await _list(place)


@require_POST
async def remove(request: HttpRequest, project_id: str) -> HttpResponse:
    """`note`, with its pins; a toast brings both back."""
    place = await _place(request, project_id)
    found = await in_db(knowledge.remove, place.project, request.POST.get("note", ""))
    if found is None:
        return await _list(place)
    row, pinned = found
    values = {"kind": row.kind, "title": row.title, "text": row.text, "pinned": pinned}
    return await _removed(place, row.title, "restore-note", values | ({"done": "1"} if row.done else {}))


@require_POST
async def restore(request: HttpRequest, project_id: str) -> HttpResponse:
    """A note that was removed (`kind`, `title`, `text`, `done`), pinned again in the sessions `pinned`."""
    place = await _place(request, project_id)
    try:
        await in_db(_restore, place.project, request.POST)
    except Refused as problem:
        return late(str(problem))
    return _restored()


def _restore(project: Project, form: QueryDict) -> None:
    """Raises Refused."""
    given = form.get("kind", ""), form.get("title", ""), form.get("text", "").replace("\r\n", "\n")
    with events.together():
        row = knowledge.write(project, *given, actor=acting.get())
        knowledge.tick(project, row.id, "done" in form)
        home = knowledge.home(project)
        around = Session.objects.filter(Q(project=home) | Q(project__worktree_of=home))
        for session in around.filter(id__in=form.getlist("pinned")):
            with suppress(pins.Refused):  # others took its room meanwhile
                _pin(session, row)


def _restored() -> HttpResponse:
    """The toast that asked goes, and the panel is renewed."""
    response = HttpResponse()
    response["HX-Trigger"] = "knowledge:changed"
    return response


@require_POST
async def pin(request: HttpRequest, project_id: str) -> HttpResponse:
    """The model of `session` has `note` before it from now on, or with `off` no longer."""
    place, note_id = await _place(request, project_id), request.POST.get("note", "")
    try:
        pinned = await in_db(_pins, place, note_id, on="off" not in request.POST)
    except pins.Refused as problem:
        return beside("knowledge", str(problem))
    if not pinned:
        return beside("knowledge", gettext("There is no session yet: send a prompt first."))
    return await _list(place)


def _pins(place: Located, note_id: str, *, on: bool) -> bool:
    """Whether there is such a note, and a session. Raises pins.Refused."""
    row = knowledge.note(place.project, note_id)
    if row is None or place.session is None:
        return False
    if on:
        _pin(place.session, row)
    else:
        pins.remove(place.session, pins.of_notes(place.session.id).get(row.id, ""))
    return True


def _pin(session: Session, row: ProjectNote) -> None:
    """Raises pins.Refused."""
    window = int(session.window.get("window", 0))
    if session.model_id:
        window = agents().context_window(session.provider_id, session.model_id) or window
    pins.add(session, Pin.Kind.NOTE, row.words, window, title=row.title, note=row)


@require_POST
async def save_action(request: HttpRequest, project_id: str) -> HttpResponse:
    """`name` and `command` of a new action, or of `action`."""
    place, form = await _place(request, project_id), request.POST
    given = form.get("name", ""), form.get("command", "").replace("\r\n", "\n")
    try:
        await in_db(knowledge.save_action, place.project, *given, action_id=form.get("action", ""))
    except Refused as problem:
        return beside("knowledge", str(problem))
    return await _list(place)


@require_POST
async def remove_action(request: HttpRequest, project_id: str) -> HttpResponse:
    """`action`, which a toast brings back; what runs goes on."""
    place = await _place(request, project_id)
    row = await in_db(knowledge.remove_action, place.project, request.POST.get("action", ""))
    if row is None:
        return await _list(place)
    return await _removed(place, row.name, "restore-action", {"name": row.name, "command": row.command})


@require_POST
async def restore_action(request: HttpRequest, project_id: str) -> HttpResponse:
    """One that was removed (`name`, `command`)."""
    place, form = await _place(request, project_id), request.POST
    try:
        await in_db(knowledge.save_action, place.project, form.get("name", ""), form.get("command", ""))
    except Refused as problem:
        return late(str(problem))
    return _restored()


@require_POST
async def run(request: HttpRequest, project_id: str) -> HttpResponse:
    """`action` in a terminal of the page's folder, which is then shown; where it runs there already, that."""
    place = await _place(request, project_id)
    row = await in_db(knowledge.action, place.project, request.POST.get("action", ""))
    if row is None:
        return noted(toast(gettext("It is not there any more.")))
    terminal = running(place.directory, row.command, row.name)
    if terminal is None:
        try:
            terminal = await run_line(place.project.id, place.directory, row.command, row.name)
        except CannotOpen as problem:
            return noted(toast(str(problem)))
    return done(**{"terminal:show": {"id": terminal.id}})


@require_POST
async def start(request: HttpRequest, project_id: str) -> HttpResponse:
    """`command` is what is run in each new worktree; empty for nothing."""
    place = await _place(request, project_id)
    command = request.POST.get("command", "").replace("\r\n", "\n").strip()
    if len(command) > LONGEST_START:
        return beside("knowledge", gettext("This is too long."))
    await in_db(_begin_by, place.project, command)
    return await _list(place)


def _begin_by(project: Project, command: str) -> None:
    projects.change(knowledge.home(project), ProjectChange(commands=ProjectCommands(start=command)))

"""The overview with the chooser of projects, and opening one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.changes import vcs
from sessions.changes.vcs import Checkout, GitError, changes
from sessions.core import opened
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.principal import person_of, sees
from sessions.core.roles import Person
from sessions.core.store import projects
from sessions.web.access import project_of
from sessions.web.overview import pages as overview
from sessions.web.respond import REFUSED, fragment, page, redirect, refused


class CannotOpen(ValueError):
    """The path is no project; the text is for the person who gave it."""


@require_GET
async def home(request: HttpRequest) -> HttpResponse:
    """The project the server was started with, or the overview (`?choose` asks for it, with its filter)."""
    opened = getattr(settings, "OPENED_DIRECTORY", None)
    if opened and "choose" not in request.GET:
        try:
            return HttpResponseRedirect(await _open(str(opened), projects.project_of))
        except CannotOpen as problem:
            return await _overview(request, problem=str(problem))
    return await _overview(request)


async def _overview(request: HttpRequest, **context: Any) -> HttpResponse:
    recent = await in_db(_recent, person_of(request))
    return await page(request, "home.html", recent=recent, **context, **await overview.context_of(request))


@require_POST
async def open_project(request: HttpRequest) -> HttpResponse:
    """A folder that is no ordinary project takes a confirmation, `sure`."""
    path = request.POST.get("path", "")
    try:
        folder = checked(path)
        if not opened.may_open(folder):
            if "sure" not in request.POST:
                return fragment(
                    "fragments/sure.html", status=REFUSED, why=opened.caution(folder), path=str(folder)
                )
            opened.allow(folder)
        return redirect(await _open(path, projects.open_project))
    except CannotOpen as problem:
        return refused(str(problem))


def _recent(person: Person | None) -> list[Project]:
    """The projects used last that a person sees, without the folders of chats."""
    chats = overview.chats().resolve()
    return [
        one
        for one in projects.recent()
        if sees(person, one.id) and not Path(one.worktree).is_relative_to(chats)
    ]


async def _open(path: str, opener: Callable[[Path], Project]) -> str:
    """The URL of the project in a folder."""
    try:
        project = await in_db(opener, checked(path))
    except OSError as error:
        raise CannotOpen(
            gettext("This folder cannot be opened: %(error)s") % {"error": error.strerror or error}
        ) from error
    return project.get_absolute_url()


def checked(path: str) -> Path:
    """A readable folder that can be a project; raises CannotOpen with the reason otherwise."""
    if not path.strip():
        raise CannotOpen(gettext("Give the path of a folder."))
    if "\0" in path:
        raise CannotOpen(gettext("A path cannot contain a null character."))
    folder = Path(os.path.expanduser(path.strip()))
    if not folder.is_absolute():
        raise CannotOpen(gettext("Give the whole path, beginning with / or ~."))
    try:
        if not folder.exists():
            raise CannotOpen(gettext("There is no such folder."))
        if not folder.is_dir():
            raise CannotOpen(gettext("This is a file; give the folder that it is in."))
    except OSError as error:
        raise CannotOpen(
            gettext("This path cannot be read: %(error)s") % {"error": error.strerror or error}
        ) from error
    if folder.resolve() == Path("/"):
        raise CannotOpen(gettext("The whole file system is no project; give a folder in it."))
    if not os.access(folder, os.R_OK | os.X_OK):
        raise CannotOpen(gettext("You may not read this folder."))
    return folder


@require_GET
async def checkout(request: HttpRequest, project_id: str) -> HttpResponse:
    """The branch and how many files differ from its last commit; empty where there is no repository."""
    found = await project_of(project_id)
    if found.vcs != "git":
        return HttpResponse()
    try:
        branch, changed = await asyncio.to_thread(_read, Path(found.worktree))
    except GitError:
        return HttpResponse()
    return fragment("conversation/checkout.html", branch=branch, changed=changed)


def _read(top: Path) -> tuple[str, int]:
    found = Checkout(top)
    return vcs.current(found), len(changes(found, vcs.head(found), top))

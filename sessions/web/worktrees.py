"""Removing a worktree: what would be lost is shown first."""

from __future__ import annotations

import asyncio
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from sessions.changes.worktrees.removal import CannotRemove, losses, remove
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import projects
from sessions.web.respond import fragment, redirect, refused


@require_http_methods(["GET", "HEAD", "POST"])
async def removal(request: HttpRequest, project_id: str) -> HttpResponse:
    """GET the dialog, POST removes what was `seen` in it (`branch=1`: with its branch)."""
    project = await in_db(_worktree, project_id)
    if project is None or project.worktree_of is None:
        raise Http404(gettext("This is no worktree that was made here."))
    folder = Path(project.worktree)
    try:
        if request.method != "POST":
            found = await asyncio.to_thread(losses, folder)
            return fragment("fork/remove.html", project=project, losses=found)
        if await in_db(projects.is_busy, project):
            raise CannotRemove(gettext("The agent works in this worktree. Stop it first."))
        repository = Path(project.worktree_of.worktree)
        branch = "branch" in request.POST
        seen = request.POST.get("seen", "")
        await asyncio.to_thread(remove, folder, repository, seen, with_branch=branch)
    except CannotRemove as problem:
        return _refused(request, str(problem))
    return redirect(reverse("home") + "?choose")


def _refused(request: HttpRequest, why: str) -> HttpResponse:
    """Beside the button of the dialog, or where the dialog would be."""
    if request.method == "POST":
        return refused(why)
    return fragment("fork/cannot_remove.html", why=why)


def _worktree(project_id: str) -> Project | None:
    return Project.objects.select_related("worktree_of").filter(id=project_id).first()

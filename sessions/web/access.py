"""Who may see what: every page and socket finds its project and session through here.

Everybody who passed the guard may see every project; a session must belong to the project in the URL.
The `find_` functions run on the ORM's thread, the others answer a request or raise Http404.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from django.db.models import Q
from django.http import Http404, HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import gettext

from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.store import projects
from sessions.core.store import sessions as session_store


class Located(NamedTuple):
    """What a request is about: a folder, and the project and the session that it belongs to."""

    directory: Path
    session: Session | None
    project: Project


def find_project(project_id: str) -> Project | None:
    return projects.get(project_id)


def find_session(project_id: str, session_id: str) -> Session | None:
    """A session that is not deleted, with its project."""
    row = session_store.get(session_id)
    return row if row is not None and row.project_id == project_id else None


def find_moved(project_id: str, session_id: str) -> Session | None:
    """A session that is in another worktree of the same repository now: it may have been here before."""
    kin = Q(project__worktree_of=project_id) | Q(project__worktree_of__worktrees=project_id)
    return Session.objects.filter(kin, id=session_id, time_deleted=None).exclude(project=project_id).first()


def find_sessions(project_id: str, ids: Sequence[str], *, deleted: bool = False) -> list[Session]:
    """Those of some ids that the list of a project shows, or that it showed before they were `deleted`."""
    rows = Session.objects.select_related("project").filter(project_id=project_id, id__in=ids, parent=None)
    return list(rows.filter(time_deleted__isnull=not deleted).order_by("-used"))


def stop_url(session: Session) -> str:
    """Where the running turn of a session is stopped; empty where none runs."""
    idle = (session.status or {}).get("type", "idle") == "idle"
    return "" if idle else reverse("abort", args=(session.project_id, session.id))


def find_hidden(project_id: str, session_id: str) -> Session | None:
    """The same for a deleted session, so that it can be brought back."""
    return Session.objects.filter(id=session_id, project_id=project_id).first()


async def project_of(project_id: str) -> Project:
    project = await in_db(find_project, project_id)
    if project is None:
        raise Http404(gettext("This project is not known here."))
    return project


async def session_of(project_id: str, session_id: str) -> Session:
    session = await in_db(find_session, project_id, session_id)
    if session is None:
        raise Http404(gettext("This session does not exist, or it was deleted."))
    return session


async def located(fields: QueryDict) -> Located:
    """By `session`, else by `project`: fragments of the composer are asked for before there is a session."""
    session = await in_db(session_store.get, fields.get("session", ""))
    if session is not None:
        return Located(Path(session.directory), session, session.project)
    project = await project_of(fields.get("project", ""))
    return Located(Path(project.worktree), None, project)


def is_here(request: HttpRequest) -> bool:
    """Whether the browser is on this machine, and reached it by a name of this machine alone."""
    names = request.META.get("REMOTE_ADDR", ""), request.get_host().rsplit(":", 1)[0].strip("[]")
    return all(map(_is_loopback, names))


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"

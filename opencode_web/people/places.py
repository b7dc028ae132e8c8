"""Which projects a request is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.http import HttpRequest

from sessions.core.models import PermissionRequest, Project, QuestionRequest, Schedule, Session
from sessions.core.roles import Role
from sessions.core.store import projects


def of_page(request: HttpRequest, given: Mapping[str, Any], need: Role) -> set[str | None]:
    """The projects of all that a page is about, as its path, its query and its form name it; what is
    administered by them is administered for all projects."""
    sources = [given, request.GET, request.POST] if need is not Role.ADMINISTER else [given]
    return {project for source in sources for project in _named(source)}


def of_operation(request: HttpRequest, given: Mapping[str, Any], need: Role) -> set[str | None]:
    """That of the session or the request in its path; else that of the folder in which it acts."""
    if found := set(_named(given)):
        return found
    query = request.GET.get("directory") or request.GET.get("location[directory]")
    header = unquote(request.headers.get("x-opencode-directory", ""))
    location = body_of(request).get("location")
    named = location.get("directory") if isinstance(location, dict) else None
    return {project_at(str(named or query or header))}


def body_of(request: HttpRequest) -> dict[str, Any]:
    """The object of JSON that it brings, whatever it says that it is; empty where it is none."""
    try:
        given = json.loads(request.body or b"{}")
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def known_project(id: str) -> str | None:
    return Project.objects.filter(id=id).values_list("id", flat=True).first()


def project_at(folder: str) -> str | None:
    """That whose folder it is, or the one that the server was started with."""
    folder = folder or settings.OPENED_DIRECTORY
    project = projects.at(Path(folder)) if folder else None
    return project.id if project else None


def project_of_session(id: str) -> str | None:
    return Session.objects.filter(id=id).values_list("project_id", flat=True).first()


def _named(source: Mapping[str, Any]) -> Iterator[str | None]:
    """The projects of what ids there name; None for an id of nothing."""
    for name, value in source.items():
        match name.removesuffix("_id"):
            case "project":
                yield known_project(str(value))
            case "session":
                yield project_of_session(str(value))
            case "schedule":
                yield Schedule.objects.filter(id=str(value)).values_list("project_id", flat=True).first()
            case "request" | "permission":
                yield _of_request(str(value))


def _of_request(id: str) -> str | None:
    """Of a permission or a question that waits."""
    place = "session__project_id"
    for rows in (PermissionRequest.objects.filter(id=id), QuestionRequest.objects.filter(id=id)):
        if found := rows.values_list(place, flat=True).first():
            return str(found)
    return None

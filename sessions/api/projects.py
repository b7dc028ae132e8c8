"""`/project`: what was opened here, and what clients keep with it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError

from sessions.api.base import NotFound, directory_of, wire
from sessions.api.described import answers
from sessions.core.db import in_db
from sessions.core.repository import Repository, make_repository
from sessions.core.store import projects
from sessions.core.wire.project import ProjectChange, ProjectDirectory, ProjectInfo

router = Router()


@router.get("", operation_id="project.list")
@answers(list[ProjectInfo])
async def list_projects(request: HttpRequest) -> HttpResponse:
    return wire(await in_db(_listed))


def _listed() -> list[dict[str, Any]]:
    return [projects.wire(row) for row in projects.listed()]


@router.get("/current", operation_id="project.current")
@answers(ProjectInfo)
async def current(request: HttpRequest) -> HttpResponse:
    """A folder that was not open is now: its client asks for it first."""
    return wire(await in_db(_current, directory_of(request)))


def _current(directory: Path) -> dict[str, Any]:
    try:
        return projects.wire(projects.project_of(directory))
    except OSError as error:
        raise NotFound(f"{directory} cannot be opened: {error.strerror}") from error


@router.patch("/{project_id}", operation_id="project.update")
@answers(ProjectInfo, errors=(404,))
async def update(request: HttpRequest, project_id: str, body: ProjectChange) -> HttpResponse:
    project = await in_db(projects.get, project_id) if project_id.isprintable() else None
    if project is None:
        message = f"Project not found: {project_id}"
        return wire({"_tag": "ProjectNotFoundError", "projectID": project_id, "message": message}, 404)
    await in_db(projects.change, project, body)
    return wire(await in_db(projects.wire, project))


@router.get("/{project_id}/directories", operation_id="project.directories")
@answers(list[ProjectDirectory])
async def directories(request: HttpRequest, project_id: str) -> HttpResponse:
    """Nothing for a project that is not known."""
    return wire(await in_db(_directories, project_id) if project_id.isprintable() else [])


def _directories(project_id: str) -> list[dict[str, str]]:
    project = projects.get(project_id)
    if project is None:
        return []
    made = [{"directory": folder, "strategy": "git_worktree"} for folder in projects.sandboxes(project)]
    return [{"directory": project.worktree}, *made]


@router.post("/git/init", operation_id="project.initGit")
@answers(ProjectInfo)
async def init_git(request: HttpRequest) -> HttpResponse:
    """Make the folder a repository; nothing where it is in one."""
    directory = directory_of(request)
    try:
        await asyncio.to_thread(_init, directory)
        return wire(await in_db(_opened, directory))
    except OSError as error:
        raise HttpError(400, f"directory: {error.strerror}") from error


def _init(directory: Path) -> None:
    if not Repository.of(directory).is_git:
        make_repository(directory)


def _opened(directory: Path) -> dict[str, Any]:
    project = projects.open_project(directory)
    projects.updated(project)
    return projects.wire(project)

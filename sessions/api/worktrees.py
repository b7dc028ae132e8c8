"""`/experimental/worktree`: working trees beside the project.

What would be lost is never taken away here: the page shows it first and takes a yes (`removal`).
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from sessions.api.base import project_of, wire
from sessions.api.described import answers
from sessions.changes.worktrees.making import CannotFork
from sessions.changes.worktrees.opening import CannotReset, open_worktree, recorded, reset, what_is_lost
from sessions.changes.worktrees.removal import CannotRemove, losses, remove
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import projects
from sessions.core.wire.base import Wire
from sessions.terminals.lines import start_up
from sessions.terminals.registry import terminals

router = Router()


class NewWorktree(Wire):
    """`start_command` is run in it, after the one of the project."""

    name: Annotated[str, Field(max_length=200)] = ""
    start_command: str = Field("", alias="startCommand", max_length=10_000)


class Worktree(Wire):
    name: str
    branch: str
    directory: str


class ThisWorktree(Wire):
    directory: str


@router.get("", operation_id="worktree.list")
@answers(list[str])
async def list_worktrees(request: HttpRequest) -> HttpResponse:
    return wire(await in_db(projects.sandboxes, await _original(request)))


@router.post("", operation_id="worktree.create")
@answers(Worktree)
async def create(request: HttpRequest, body: NewWorktree | None = None) -> HttpResponse:
    """Its files are those of the last commit. The commands run in a terminal of it, for anybody to see."""
    given, original = body or NewWorktree(), await _original(request)
    if original.vcs != "git":
        return _failed("NotGit", "This project is no git repository.")
    taken = await in_db(projects.worktree_names, original)
    try:
        made = await asyncio.to_thread(open_worktree, original.id, Path(original.worktree), given.name, taken)
    except CannotFork as problem:
        return _failed("CreateFailed", str(problem))
    row = await recorded(original, made)
    data = {"name": made.folder.name, "branch": made.branch, "directory": row.worktree}
    _tell(row, "worktree.ready", name=data["name"], branch=data["branch"])
    if failed := await start_up(row.id, more=given.start_command):
        _tell(row, "worktree.failed", message=failed)
    return wire(data)


@router.delete("", operation_id="worktree.remove")
@answers(bool)
async def remove_worktree(request: HttpRequest, body: ThisWorktree) -> HttpResponse:
    """Its branch goes too, unless it has commits of its own."""
    original = await _original(request)
    row = await in_db(projects.worktree_at, original, body.directory)
    if row is None:
        return _failed("RemoveFailed", "This is no worktree that was made here.")
    try:
        if await in_db(projects.is_busy, row):
            raise CannotRemove("The agent works in this worktree. Stop it first.")
        await _remove(Path(row.worktree), Path(original.worktree))
    except CannotRemove as problem:
        return _failed("RemoveFailed", str(problem))
    await in_db(projects.updated, original)
    return wire(True)


async def _remove(folder: Path, repository: Path) -> None:
    """With what runs in its terminals. Raises CannotRemove."""
    found = await asyncio.to_thread(losses, folder)
    if held := what_is_lost(found, branch=False):
        raise CannotRemove(f"The worktree has {held} that would be lost. Its page can remove it.")
    for terminal in terminals.of(folder):
        await terminals.remove(terminal)
    await asyncio.to_thread(remove, folder, repository, found.key, with_branch=False)


@router.post("/reset", operation_id="worktree.reset")
@answers(bool)
async def reset_worktree(request: HttpRequest, body: ThisWorktree) -> HttpResponse:
    row = await in_db(projects.worktree_at, await _original(request), body.directory)
    if row is None:
        return _failed("ResetFailed", "This is no worktree that was made here.")
    try:
        if await in_db(projects.is_busy, row):
            raise CannotReset("The agent works in this worktree. Stop it first.")
        await asyncio.to_thread(reset, Path(row.worktree))
    except CannotReset as problem:
        return _failed("ResetFailed", str(problem))
    return wire(True)


async def _original(request: HttpRequest) -> Project:
    """The project of the request's folder; of a worktree, what it was made from."""
    project = await project_of(request)
    return await in_db(lambda: project.worktree_of or project)


def _failed(how: str, message: str) -> HttpResponse:
    return wire({"name": f"Worktree{how}Error", "data": {"message": message}}, 400)


def _tell(row: Project, event: str, **properties: str) -> None:
    bus.publish(bus.Event(event, properties, project_id=row.id, directory=row.worktree))

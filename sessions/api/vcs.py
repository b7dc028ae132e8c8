"""`/vcs`, `/file/status`: what git says of a project, and patches to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import BaseModel, Field

from sessions.api.base import directory_of, project_of, wire
from sessions.api.described import answers
from sessions.changes import vcs
from sessions.changes.tracking import tracker
from sessions.changes.vcs import CONTEXT, Changed, Checkout, GitError, NotClean, apply, changes, patch
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.models.ledger import shown
from sessions.core.repository import Repository
from sessions.core.store import projects
from sessions.core.wire.files import FileStatus, VcsApplied, VcsFileDiff, VcsFileStatus, VcsInfo

router = Router()

Lines = Annotated[int, Field(ge=0, le=10_000)]
Mode = Literal["git", "branch"]
Read = TypeVar("Read")


class Patch(BaseModel):
    patch: str


@router.get("/vcs", operation_id="vcs.get")
@answers(VcsInfo)
async def info(request: HttpRequest) -> HttpResponse:
    def read(checkout: Checkout, _: Path) -> dict[str, str]:
        found = {"branch": vcs.current(checkout), "default_branch": vcs.default(checkout)}
        return {name: value for name, value in found.items() if value}

    return wire(await _read(request, read, {}))


@router.get("/vcs/status", operation_id="vcs.status")
@answers(list[VcsFileStatus])
async def status(request: HttpRequest) -> HttpResponse:
    return wire([_counted(change) for change in await _against_head(request)])


@router.get("/file/status", operation_id="file.status")
@answers(list[FileStatus])
async def file_status(request: HttpRequest) -> HttpResponse:
    found = [_counted(change) for change in await _against_head(request)]
    names = {"file": "path", "additions": "added", "deletions": "removed", "status": "status"}
    return wire([{names[name]: value for name, value in change.items()} for change in found])


@router.get("/vcs/diff", operation_id="vcs.diff")
@answers(list[VcsFileDiff])
async def diff(request: HttpRequest, mode: Mode, context: Lines = CONTEXT) -> HttpResponse:
    """Against the last commit, or with `branch` against where the branch left the default one."""

    def read(checkout: Checkout, below: Path) -> list[Changed]:
        base = vcs.head(checkout) if mode == "git" else vcs.fork_point(checkout)
        return changes(checkout, base, below, context=context) if base else []

    nothing: list[Changed] = []
    found = await _read(request, read, nothing)
    return wire([_counted(change) | {"patch": change.patch} for change in found])


@router.get("/vcs/diff/raw", operation_id="vcs.diff.raw")
@answers(str, media="text/x-diff; charset=utf-8")
async def raw_diff(request: HttpRequest) -> HttpResponse:
    def read(checkout: Checkout, below: Path) -> str:
        return patch(checkout, vcs.head(checkout), below)

    return HttpResponse(await _read(request, read, ""), content_type="text/x-diff; charset=utf-8")


@router.post("/vcs/apply", operation_id="vcs.apply")
@answers(VcsApplied)
async def apply_patch(request: HttpRequest, body: Patch) -> HttpResponse:
    """Paths in the patch are those of the top of the working tree."""
    project = await project_of(request)
    if project.vcs != "git":
        return _refused("This project is no git repository.", "non-git")
    try:
        became = await asyncio.to_thread(_apply, project, body.patch)
    except NotClean as problem:
        return _refused(str(problem), "not-clean")
    await in_db(_tell, project, became)
    return wire({"applied": True})


def _apply(project: Project, text: str) -> dict[str, str]:
    return apply(Checkout(Path(project.worktree)), text, tracker(project))


def _tell(project: Project, became: dict[str, str]) -> None:
    with transaction.atomic():
        for path, event in became.items():
            projects.file_changed(project, path, event)


def _refused(message: str, reason: str) -> HttpResponse:
    return wire({"name": "VcsApplyError", "data": {"message": message, "reason": reason}}, 400)


async def _read(request: HttpRequest, ask: Callable[[Checkout, Path], Read], without: Read) -> Read:
    """What git says about the request's folder; `without` where there is no repository."""
    directory = directory_of(request)
    try:
        return await asyncio.to_thread(_asked, directory, ask, without)
    except (GitError, OSError) as error:
        raise HttpError(400, f"git cannot say: {error}") from error


def _asked(directory: Path, ask: Callable[[Checkout, Path], Read], without: Read) -> Read:
    repository = Repository.of(directory)
    return ask(Checkout(repository.worktree), directory.resolve()) if repository.is_git else without


async def _against_head(request: HttpRequest) -> list[Changed]:
    nothing: list[Changed] = []
    return await _read(request, lambda checkout, below: changes(checkout, vcs.head(checkout), below), nothing)


def _counted(change: Changed) -> dict[str, Any]:
    return {
        "file": shown(change.path),
        "additions": change.additions,
        "deletions": change.deletions,
        "status": change.status,
    }

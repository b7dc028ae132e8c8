"""What the git panel shows when it is asked for: branches, commits, and what is put aside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.agent.git_programs import git_of
from agents.web.git.lanes import drawn
from agents.web.git.place import Place, Row, place_of
from sessions.changes.git import branches as of_branches
from sessions.changes.git import history, merging, remotes, worktrees
from sessions.changes.git import submodules as of_submodules
from sessions.changes.git import tags as of_tags
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.stash import stashes
from sessions.changes.git.status import status
from sessions.changes.git.worktrees import Worktree
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.models.ledger import pack_path, shown, unpack_path
from sessions.core.store import projects
from sessions.web.respond import fragment

Asked = Callable[[Git], Mapping[str, Any]]


async def _view(place: Place, template: str, asked: Asked) -> HttpResponse:
    try:
        found = await place.work(asked)
    except GitError as error:
        return fragment("git/refused.html", message=str(error))
    return fragment(template, place=place, **found)


@require_GET
async def branches(request: HttpRequest, project_id: str) -> HttpResponse:
    """Those of here and of remotes; with `?lost=` what would be lost with that one."""
    place, lost = await place_of(request, project_id), request.GET.get("lost", "")
    if lost:
        return await _view(place, "git/lost.html", lambda git: _lost(git, lost))
    return await _view(place, "git/branches.html", lambda git: {"branches": of_branches.branches(git)})


def _lost(git: Git, ref: str) -> Mapping[str, Any]:
    commits = of_branches.only_there(git, ref)
    seen, there = git.asked("rev-parse", "--verify", ref), ref.startswith(of_branches.REMOTES)
    return {"ref": ref, "seen": seen, "commits": commits, "there": there}


@require_GET
async def log(request: HttpRequest, project_id: str) -> HttpResponse:
    """Commits from `?skip=` on, with `?every=1` of all branches; with `?path=` those that changed that file,
    which with `?file=` is as seen from the session."""
    place = await place_of(request, project_id)
    given, file, skip, every = (request.GET.get(name, "") for name in ("path", "file", "skip", "every"))
    start = int(skip) if skip.isdecimal() and len(skip) < 9 else 0

    def asked(git: Git) -> Mapping[str, Any]:
        path = place.inside(git, unpack_path(file)) if file else unpack_path(given)
        found = history.log(git, skip=start, path=path, every=bool(every))
        lanes = history.lanes(git, skip=start, every=bool(every)) if found and not path else []
        more = start + history.PAGE if len(found) > history.PAGE else 0
        return {
            "rows": list(zip_longest(found[: history.PAGE], map(drawn, lanes))),
            "more": more,
            "key": pack_path(path),
            "name": shown(path),
            "every": every,
        }

    return await _view(place, "git/commits.html" if start else "git/log.html", asked)


@require_GET
async def blame(request: HttpRequest, project_id: str) -> JsonResponse:
    """`{"commits": [{"hash", "short", "time", "author", "subject"}], "lines": [number]}` of the file
    `?file=`, as seen from the session, or `{"problem"}` (`history.Blame`)."""
    place = await place_of(request, project_id)
    file = unpack_path(request.GET.get("file", ""))
    try:
        found = await place.work(lambda git: history.blame(git, place.inside(git, file)))
    except GitError as error:
        return JsonResponse({"problem": str(error)})
    names = ("hash", "short", "time", "author", "subject")
    commits = [{name: getattr(commit, name) for name in names} for commit in found.commits]
    return JsonResponse({"commits": commits, "lines": found.lines})


@require_GET
async def commit(request: HttpRequest, project_id: str) -> HttpResponse:
    """The message and the files of the commit `?commit=`."""
    place, wanted = await place_of(request, project_id), request.GET.get("commit", "")

    def asked(git: Git) -> Mapping[str, Any]:
        rows = [Row(file, wanted) for file in history.changed(git, wanted)]
        here = history.is_here(git, wanted)
        return {"message": history.message(git, wanted), "rows": rows, "commit": wanted, "here": here}

    return await _view(place, "git/commit.html", asked)


@require_GET
async def stash(request: HttpRequest, project_id: str) -> HttpResponse:
    """What is put aside."""
    place = await place_of(request, project_id)
    return await _view(place, "git/stash.html", lambda git: {"stashes": stashes(git)})


@require_GET
async def abort(request: HttpRequest, project_id: str) -> HttpResponse:
    """What would be lost if what is half done were aborted."""
    return await _view(await place_of(request, project_id), "git/abort.html", _aborted)


def _aborted(git: Git) -> Mapping[str, Any]:
    now = status(git)
    if now.doing is None:
        raise GitError(gettext("It is over already."))
    files = dict.fromkeys(file.path for file in (*now.conflicts, *now.staged, *now.changed))
    return {"doing": now.doing, "files": [shown(path) for path in files]}


@require_GET
async def tags(request: HttpRequest, project_id: str) -> HttpResponse:
    """Those of here; with `?lost=` what it is to delete that one at the remote."""
    place, lost = await place_of(request, project_id), request.GET.get("lost", "")

    def asked(git: Git) -> Mapping[str, Any]:
        found, remote = of_tags.tags(git), remotes.usual(git)
        return {"tags": found, "remote": remote, "tag": next((tag for tag in found if tag.ref == lost), None)}

    return await _view(place, "git/tag_lost.html" if lost else "git/tags.html", asked)


@require_GET
async def submodules(request: HttpRequest, project_id: str) -> HttpResponse:
    def asked(git: Git) -> Mapping[str, Any]:
        return {"submodules": of_submodules.submodules(git), "trusted": git.trusted}

    return await _view(await place_of(request, project_id), "git/submodules.html", asked)


@dataclass(frozen=True, slots=True)
class Tree:
    """A worktree, and the project that it was opened as."""

    tree: Worktree
    project: Project | None

    @property
    def key(self) -> str:
        return pack_path(self.tree.folder)


@require_GET
async def trees(request: HttpRequest, project_id: str) -> HttpResponse:
    """The worktrees of the repository; with `?lost=` what would be lost with the one in that folder."""
    place, lost = await place_of(request, project_id), request.GET.get("lost", "")
    if lost:
        return await _view(
            place,
            "git/worktree_lost.html",
            lambda git: {"folder": lost, "losses": worktrees.lost(git, unpack_path(lost))},
        )
    try:
        found, names = await place.work(lambda git: (worktrees.worktrees(git), of_branches.branches(git)))
    except GitError as error:
        return fragment("git/refused.html", message=str(error))
    known = await in_db(lambda: {tree.folder: projects.at(Path(tree.folder)) for tree in found})
    return fragment(
        "git/worktrees.html",
        place=place,
        rows=[Tree(tree, known[tree.folder]) for tree in found],
        here=next((tree for tree in found if tree.current), None),
        branches=[branch for branch in names if not branch.current and not branch.elsewhere],
    )


@require_GET
async def merge(request: HttpRequest, project_id: str) -> HttpResponse:
    """What merging would bring: of the branch `?ref=`, of that of the worktree `?from=`, or of the one here
    into the worktree `?into=`."""
    ref, source, target = (unpack_path(request.GET.get(name, "")) for name in ("ref", "from", "into"))

    def asked(git: Git) -> Mapping[str, Any]:
        trees = worktrees.worktrees(git)
        here = next((tree.branch for tree in trees if tree.current), "")
        wanted = worktrees.named(git, source).branch if source else here if target else ref
        into = git_of(Path(worktrees.named(git, target).folder)) if target else git
        found = merging.preview(into, wanted)
        beside = next((tree.folder for tree in trees if tree.branch == wanted and not tree.gone), "")
        dirty = _dirty(beside) if beside else 0
        return {"found": found, "at": target, "key": pack_path(target), "dirty": dirty}

    return await _view(await place_of(request, project_id), "git/merge.html", asked)


def _dirty(folder: str) -> int:
    now = status(git_of(Path(folder)))
    return len({file.path for file in (*now.conflicts, *now.staged, *now.changed, *now.untracked)})

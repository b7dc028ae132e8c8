"""What the git panel does by a click: stage, discard, resolve, commit; branches, tags, worktrees, submodules,
remotes, what is put aside."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST

from agents.agent import git_message
from agents.agent.git_programs import git_of
from agents.web.git import running
from agents.web.git.pages import answer
from agents.web.git.place import TITLES, Place, path_of, place_of
from sessions.changes.git import (
    branches,
    commits,
    conflicts,
    index,
    merging,
    ongoing,
    remotes,
    removal,
    stash,
    submodules,
    tags,
    worktrees,
)
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.discarding import Wanted, discarded, discarded_part
from sessions.changes.git.index import Chosen
from sessions.changes.git.status import status
from sessions.changes.history.entries import title
from sessions.changes.operations import files, inverse
from sessions.changes.operations.lock import Refused
from sessions.changes.worktrees.making import CannotFork, home_of, slug_of
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.models.ledger import pack_path, shown, unpack_path
from sessions.core.principal import actor
from sessions.core.store import operations, projects
from sessions.core.store import sessions as session_store
from sessions.terminals.lines import start_up
from sessions.web.respond import beside

Act = Callable[[HttpRequest, Place], Awaitable[HttpResponseBase]]
View = Callable[[HttpRequest, str], Coroutine[Any, Any, HttpResponseBase]]
MOST_DISCARDED = 300


def by_click(act: Act) -> View:
    """What git or the ledger refuses is said in the panel."""

    @require_POST
    @wraps(act)
    async def view(request: HttpRequest, project_id: str) -> HttpResponseBase:
        try:
            return await act(request, await place_of(request, project_id))
        except (GitError, Refused) as problem:
            return beside("git", str(problem), "git/refused.html")

    return view


def _between(whole: Callable[[Git, Sequence[str]], None], part: Callable[[Git, str, Chosen], None]) -> View:
    """The file `path`, or of it what `_chosen` says; without one all files of the list `side`."""

    @by_click
    async def move(request: HttpRequest, place: Place) -> HttpResponse:
        chosen = _chosen(request.POST)
        if chosen:
            path = path_of(request.POST)
            await place.work(lambda git: part(git, path, chosen))
        else:
            await place.work(lambda git: whole(git, _paths(git, request.POST)))
        return await answer(place)

    return move


stage = _between(index.stage, index.stage_part)
unstage = _between(index.unstage, index.unstage_part)


@by_click
async def discard(request: HttpRequest, place: Place) -> HttpResponse:
    """What of files is not staged, as above; the log can bring it back."""
    chosen = _chosen(request.POST)
    top, wanted = await place.work(lambda git: (git.top, _discarded(git, request.POST, chosen)))
    session = await in_db(_session, place)
    named = {_seen_from(session, top, path): state for path, state in wanted.items()}
    operation = await files.restore(session, named, actor=actor(request))
    return await answer(
        place,
        toast=ngettext(
            "Discarded changes of %(count)s file.", "Discarded changes of %(count)s files.", len(wanted)
        )
        % {"count": len(wanted)},
        undo=_undo(operation),
    )


@by_click
async def resolve(request: HttpRequest, place: Place) -> HttpResponse:
    """The conflict of `path`, which was `seen` so: `take` is ours, theirs, disk or parts, chosen as
    `conflicts.resolution` has it. With `entries` it is in conflict again, the file as before `operation`."""
    fields, path = request.POST, path_of(request.POST)
    if "entries" in fields:
        await place.work(lambda git: conflicts.reopen(git, path, fields["entries"]))
        operation = await in_db(operations.get, place.project.id, fields.get("operation", ""))
        if operation is not None:
            await inverse.invert_operation(operation, actor(request))
        return HttpResponse()
    seen, take = fields.get("seen", ""), fields.get("take", "")
    given = fields.dict()
    top, entries, wanted = await place.work(
        lambda git: (
            git.top,
            conflicts.unmerged(git, path).entries,
            conflicts.resolution(git, path, seen, take, given),
        )
    )
    operation = None
    if wanted is not None:
        session = await in_db(_session, place)
        named = {_seen_from(session, top, path): wanted}
        operation = await files.restore(session, named, act="resolve", actor=actor(request))
    await place.work(lambda git: conflicts.settle(git, path, take))
    undo = {
        "path": pack_path(path),
        "entries": entries,
        "operation": operation.id if operation else "",
        "session": place.session.id if place.session else "",
    }
    return await answer(
        place,
        toast=gettext("Resolved %(path)s.") % {"path": shown(path)},
        undo=reverse("git-resolve", args=(place.project.id,)),
        values=json.dumps(undo),
    )


_GOES_ON: Mapping[str, Callable[[Git], str]] = {
    "continue": ongoing.go_on,
    "skip": ongoing.skip,
    "abort": ongoing.abort,
}
_OF_COMMITS: Mapping[str, Callable[[Git, str], str]] = {"revert": commits.revert, "pick": commits.pick}


@by_click
async def go_on(request: HttpRequest, place: Place) -> HttpResponse:
    """`act` with what is half done: continue, skip or abort; or what may be half done then: revert or pick
    `commit`."""
    name, of = request.POST.get("act", ""), request.POST.get("commit", "")
    if name in _GOES_ON:
        return await answer(place, said=await place.work(_GOES_ON[name]))
    if name in _OF_COMMITS:
        return await answer(place, said=await place.work(lambda git: _OF_COMMITS[name](git, of)))
    raise GitError(gettext("There is no such act."))


@by_click
async def commit(request: HttpRequest, place: Place) -> HttpResponse:
    """What is staged, with `message`; with `amend` in place of the last commit."""
    message, amend = request.POST.get("message", "").replace("\r\n", "\n"), "amend" in request.POST
    said = await place.work(lambda git: commits.commit(git, message, amend=amend))
    response = await answer(place, said=said)
    response["HX-Trigger"] = "git:committed"
    return response


_WITH_REMOTES: Mapping[str, running.Act] = {
    "fetch": remotes.fetch,
    "pull": remotes.pull,
    "push": remotes.push,
}
_WITH_REFS: Mapping[str, Callable[..., str]] = {"push-tags": remotes.push_tags, "delete": remotes.delete}


@by_click
async def remote(request: HttpRequest, place: Place) -> StreamingHttpResponse:
    """`act`: fetch, pull or push; push-tags, all or the one that is `ref`; or delete `ref` there. It takes
    what the remote takes; what is said meanwhile is `Run.told`."""
    name, ref, seen = (request.POST.get(key, "") for key in ("act", "ref", "seen"))
    act = _WITH_REMOTES.get(name)
    if act is None and name in _WITH_REFS:
        name, act = "push", partial(_WITH_REFS[name], ref=ref, seen=seen)
    if act is None:
        raise GitError(gettext("There is no such act."))
    return StreamingHttpResponse(running.begin(place, name, act).told(), content_type="application/x-ndjson")


@by_click
async def stop(request: HttpRequest, place: Place) -> HttpResponse:
    """What runs with a remote."""
    running.stop(place)
    return HttpResponse()


@by_click
async def branch(request: HttpRequest, place: Place) -> HttpResponse:
    """`act`: switch to `ref`, create `name`, rename `ref` to `name`, or delete `ref` that was `seen`."""
    fields = request.POST
    act, ref, name, seen = (fields.get(key, "") for key in ("act", "ref", "name", "seen"))
    match act:
        case "switch":
            said = await place.work(lambda git: branches.switch(git, ref))
        case "create":
            said = await place.work(lambda git: branches.create(git, name, at=fields.get("at", "")))
        case "rename":
            said = await place.work(lambda git: branches.rename(git, ref, name))
        case "delete":
            return await _removed(request, place, "delete-branch", ref.removeprefix(branches.HEADS), seen)
        case _:
            raise GitError(gettext("There is no such act."))
    return await answer(place, said=said)


@by_click
async def merge(request: HttpRequest, place: Place) -> HttpResponse:
    """The branch `ref` that was `seen`, into the one here, or of the worktree `at`."""
    ref, seen = request.POST.get("ref", ""), request.POST.get("seen", "")
    at = unpack_path(request.POST.get("at", ""))

    def work(git: Git) -> str:
        return merging.merge(git_of(Path(worktrees.named(git, at).folder)) if at else git, ref, seen)

    return await answer(place, said=await place.work(work))


@by_click
async def worktree(request: HttpRequest, place: Place) -> HttpResponse:
    """`act`: make one of the branch `name`, which is new if there is none, or remove that in `folder` which
    was `seen`."""
    fields = request.POST
    match fields.get("act", ""):
        case "make":
            said = await _make_worktree(place, fields.get("name", "").strip())
        case "remove":
            folder = unpack_path(fields.get("folder", ""))
            said = await _remove_worktree(place, folder, fields.get("seen", ""))
        case _:
            raise GitError(gettext("There is no such act."))
    return await answer(place, said=said)


async def _make_worktree(place: Place, name: str) -> str:
    """Beside those that forks have; it is a project like them."""
    original = await in_db(lambda: place.project.worktree_of or place.project)
    taken = await in_db(projects.worktree_names, original)

    def work(git: Git) -> tuple[Path, str]:
        slug = slug_of(name)
        home = home_of(original.id)
        folder = home / slug
        if slug in taken or folder.exists():
            folder = home / f"{slug}-{secrets.token_hex(3)}"
        ref = next((branch.ref for branch in branches.branches(git) if branch.name == name), "")
        return folder, worktrees.add(git, folder, name=name, ref=ref)

    try:
        folder, said = await place.work(work)
    except CannotFork as problem:
        raise GitError(str(problem)) from problem
    row = projects.worktree_row(original, folder, name)
    await in_db(projects.add_worktree, row)
    await start_up(row.id)
    return said


async def _remove_worktree(place: Place, folder: str, seen: str) -> str:
    row = await in_db(projects.at, Path(folder))
    if row is not None and await in_db(projects.is_busy, row):
        raise GitError(gettext("The agent works in this worktree. Stop it first."))

    def work(git: Git) -> str:
        there = Path(worktrees.named(git, folder).folder)
        return worktrees.remove(git, folder, seen, git_of(there) if there.is_dir() else git)

    return await place.work(work)


@by_click
async def tag(request: HttpRequest, place: Place) -> HttpResponse:
    """`act`: make `name` with `words`, or delete `ref` that was `seen`."""
    fields = request.POST
    match fields.get("act", ""):
        case "make":
            name, words = fields.get("name", ""), fields.get("words", "")
            said = await place.work(lambda git: tags.make(git, name, words))
        case "delete":
            name = fields.get("ref", "").removeprefix(tags.TAGS)
            return await _removed(request, place, "delete-tag", name, fields.get("seen", ""))
        case _:
            raise GitError(gettext("There is no such act."))
    return await answer(place, said=said)


@by_click
async def submodule(request: HttpRequest, place: Place) -> HttpResponse:
    """That in `path` is brought to the commit that is recorded."""
    path = path_of(request.POST)
    return await answer(place, said=await place.work(lambda git: submodules.update(git, path)))


@by_click
async def put_aside(request: HttpRequest, place: Place) -> HttpResponse:
    """`act`: save all changes with `words`, apply `commit`, drop it."""
    act, words, commit = (request.POST.get(key, "") for key in ("act", "words", "commit"))
    match act:
        case "save":
            said = await place.work(lambda git: stash.put_aside(git, words))
        case "apply":
            said = await place.work(lambda git: stash.take_back(git, commit))
        case "drop":
            return await _removed(request, place, "drop-stash", words, commit)
        case _:
            raise GitError(gettext("There is no such act."))
    return await answer(place, said=said)


async def _removed(request: HttpRequest, place: Place, act: str, name: str, commit: str) -> HttpResponse:
    """`removal.carry_out`; the log can bring it back."""
    said = await place.work(lambda git: removal.carry_out(git, act, name, commit))
    session = await in_db(_session, place)
    noted = await in_db(lambda: removal.note(session, act, name, commit, actor=actor(request)))
    return await answer(place, said=said, toast=f"{title(noted)}.", undo=_undo(noted))


@by_click
async def draft(request: HttpRequest, place: Place) -> HttpResponse:
    """A message for what is staged, by the small model."""
    session = await in_db(_session, place)
    return HttpResponse(await git_message.draft(place.directory, session), content_type="text/plain")


def _chosen(fields: QueryDict) -> Chosen | None:
    """`seen`, with `hunks` or with `removed` and `added`; each is a list with commas. Raises GitError."""
    hunks = frozenset(filter(None, fields.get("hunks", "").split(",")))
    removed, added = (_numbers(fields.get(name, "")) for name in ("removed", "added"))
    if not (hunks or removed or added):
        return None
    return Chosen(fields.get("seen", ""), hunks, removed, added)


def _numbers(text: str) -> frozenset[int]:
    try:
        return frozenset(int(number) for number in text.split(",") if number)
    except ValueError as error:
        raise GitError(gettext("These are no numbers of lines.")) from error


def _paths(git: Git, fields: QueryDict) -> list[str]:
    if fields.get("path"):
        return [path_of(fields)]
    side = fields.get("side", "")
    found = [file.path for file in getattr(status(git), side)] if side in TITLES else []
    if not found:
        raise GitError(gettext("There is nothing of that any more."))
    return found


def _discarded(git: Git, fields: QueryDict, chosen: Chosen | None) -> dict[str, Wanted]:
    if chosen:
        path = path_of(fields)
        return {path: discarded_part(git, path, chosen)}
    paths = _paths(git, fields)
    if len(paths) > MOST_DISCARDED:
        raise GitError(
            gettext("More than %(most_discarded)s files are not discarded at once.")
            % {"most_discarded": MOST_DISCARDED}
        )
    return {path: discarded(git, path) for path in paths}


def _seen_from(session: Session, top: Path, path: str) -> str:
    """A path as the ledger knows it: relative to the project, or whole where it is outside of it."""
    whole = top / path
    root = Path(session.project.worktree)
    return str(whole.relative_to(root) if whole.is_relative_to(root) else whole)


def _session(place: Place) -> Session:
    """That of the page, or the one for what is done by hand."""
    session = place.session or session_store.by_hand(place.project)
    session.project = place.project
    return session


def _undo(operation: Operation | None) -> str:
    return reverse("invert-operation", args=(operation.project_id, operation.id)) if operation else ""

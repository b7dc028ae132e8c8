"""What the panel of the forge does by a click: start a session, open a pull request, answer, merge."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast, get_args

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from agents.agent import pull_request
from agents.agent.git_programs import git_of
from agents.forge.remote import Hosted
from agents.forge.shapes import ForgeError, Item, Method
from agents.web.forge.pages import shown
from agents.web.forge.place import branch_at, by_forge, hosted_of, item_of, opened, whole
from agents.web.git.place import Place
from sessions.changes import actions
from sessions.changes.git import remotes
from sessions.changes.git.command import REMOTE_SECONDS, Git
from sessions.changes.worktrees import pulls
from sessions.changes.worktrees.opening import open_worktree, recorded
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.sentences import grouped
from sessions.core.sharing import share_new
from sessions.core.store import projects
from sessions.core.store import sessions as session_store
from sessions.core.text import visible
from sessions.web.respond import fragment, redirect

MOST_TEXT = 60_000
MOST_TITLE = 250
_LONGEST_NAME = 200
_READING = ("rev-parse", "ls-remote")


@require_POST
@by_forge
async def start(request: HttpRequest, place: Place) -> HttpResponse:
    """A new session for what was `seen` of an item, with `words` before it; for a pull request in a worktree
    with its files."""
    kind, number = item_of(request.POST)
    words = _text(request, "words", gettext("Say what is to be done."))
    where = await hosted_of(place)
    async with opened(where) as forge:
        found = await whole(forge, await forge.item(kind, number))
    if request.POST.get("seen") != found.seen:
        raise ForgeError(gettext("Something of it has changed since it was shown here. Look at it again."))
    project = place.project if kind == "issue" else await _worktree(place, where, number)
    title = pulls.title_of(number, found.item.title) if kind == "pull" else _title(found.item)
    named = visible(title)[:_LONGEST_NAME]
    session = await in_db(session_store.create, project, project.worktree, title=named)
    await share_new(request, session)
    await actions.prompt(session, [{"type": "text", "text": f"{words}\n\n{found.text}"}])
    return redirect(session.get_absolute_url())


def _title(item: Item) -> str:
    return f"{item.name}: {item.title}"


async def _worktree(place: Place, where: Hosted, number: int) -> Project:
    """With the files of a pull request. Raises GitError and CannotFork."""
    original = await in_db(lambda: Project.objects.select_related("worktree_of").get(id=place.project.id))
    original = original.worktree_of or original
    taken = await in_db(projects.worktree_names, original)
    head = await place.work(lambda git: pulls.fetch(_runner(git), where.remote, number))
    made = await asyncio.to_thread(
        open_worktree, original.id, Path(original.worktree), pulls.name_of(number), taken
    )
    row = await recorded(original, made)
    await asyncio.to_thread(lambda: pulls.fill(_runner(git_of(made.folder)), made.branch, head))
    return row


def _runner(git: Git) -> pulls.Run:
    def run(*arguments: str) -> str:
        if arguments[0] in _READING:
            return git.read(*arguments).decode("utf-8", "replace").strip()
        return git.write(*arguments, seconds=REMOTE_SECONDS)

    return run


@require_POST
@by_forge
async def draft(request: HttpRequest, place: Place) -> HttpResponse:
    """Title and body of a pull request into `base`, by the small model, as JSON."""
    where = await hosted_of(place)
    session = await in_db(_session, place)
    base = request.POST.get("base", "")
    title, body = await pull_request.draft(place.directory, session, where.remote, base)
    return JsonResponse({"title": title, "body": body})


def _session(place: Place) -> Session:
    """That of the page, or the one for what is done by hand."""
    return place.session or session_store.by_hand(place.project)


@require_POST
@by_forge
async def create(request: HttpRequest, place: Place) -> HttpResponse:
    """A pull request of the branch into `base`, with `title` and `body`, as a `draft` or not. The branch is
    pushed first, unless the forge has all of it."""
    fields = request.POST
    title = " ".join(_text(request, "title", gettext("Give it a title.")).split())[:MOST_TITLE]
    body, base = fields.get("body", "").replace("\r\n", "\n")[:MOST_TEXT], fields.get("base", "").strip()
    if not base:
        raise ForgeError(gettext("Say which branch it is to be merged into."))
    where = await hosted_of(place)
    here = await branch_at(place, where)
    if here.name == base and not where.forked:
        raise ForgeError(
            gettext("%(base)s is the branch itself: make another one for what is to be merged.")
            % {"base": base}
        )
    async with opened(where) as forge:
        if not where.host.token:
            raise ForgeError(
                gettext("This takes a token for %(name)s: add one to the accounts.")
                % {"name": where.host.name}
            )
        if not here.pushed:
            await place.work(remotes.push)
            here = await branch_at(place, where)
        made = await forge.create(
            title=title, body=body, head=here.name, base=base, source=where.source, draft="draft" in fields
        )
        item = await forge.item("pull", made.number)
        return await shown(place, forge, item, toast=gettext("Opened %(number)s.") % {"number": made.number})


@require_POST
@by_forge
async def answer(request: HttpRequest, place: Place) -> HttpResponse:
    """Say `text` to an item, in its `thread` where one is named."""
    kind, number = item_of(request.POST)
    text = _text(request, "text", gettext("Write something first."))
    async with opened(await hosted_of(place)) as forge:
        item = await forge.item(kind, number)
        await forge.answer(item, text, request.POST.get("thread", ""))
        return await shown(place, forge, item, toast=gettext("Sent."))


@require_http_methods(["GET", "HEAD", "POST"])
@by_forge
async def merge(request: HttpRequest, place: Place) -> HttpResponse:
    """GET asks how, and whether; POST does it by `method`, as long as the last commit is the one `seen`."""
    asked = request.GET if request.method != "POST" else request.POST
    _, number = item_of(asked)
    async with opened(await hosted_of(place)) as forge:
        item = await forge.item("pull", number)
        if request.method != "POST":
            found, settings = await asyncio.gather(whole(forge, item), forge.settings())
            return fragment("forge/merge.html", place=place, item=item, found=found, methods=settings.methods)
        method = request.POST.get("method", "")
        if method not in get_args(Method):
            raise ForgeError(gettext("Choose how it is to be merged."))
        if item.commit != request.POST.get("seen"):
            raise ForgeError(gettext("It has other commits since it was shown here. Look at it again."))
        await forge.merge(item, cast(Method, method))
        return await shown(
            place,
            forge,
            await forge.item("pull", number),
            toast=gettext("Merged %(number)s.") % {"number": number},
        )


def _text(request: HttpRequest, name: str, missing: str) -> str:
    """Raises ForgeError."""
    text = request.POST.get(name, "").replace("\r\n", "\n").strip()
    if not text:
        raise ForgeError(missing)
    if len(text) > MOST_TEXT:
        raise ForgeError(
            gettext("This is longer than %(most_text)s characters.") % {"most_text": grouped(MOST_TEXT)}
        )
    return text

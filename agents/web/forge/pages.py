"""What the panel of the forge shows: lists, one item, that of the branch, texts for the prompt."""

from __future__ import annotations

import asyncio
import re
from typing import Any, cast, get_args

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.agent.git_programs import git_of
from agents.agent.pull_request import Beginning, beginning
from agents.forge import prompt
from agents.forge.forge import Forge
from agents.forge.remote import Branch, Hosted
from agents.forge.shapes import Check, ForgeError, Item, Kind, Listing
from agents.web.forge.place import Whole, branch_at, by_forge, hosted_of, item_of, opened, whole
from agents.web.git.place import Place, place_of
from sessions.changes.git.branches import branches
from sessions.changes.git.command import GitError
from sessions.rendering.blocks import render_whole
from sessions.web.respond import fragment

MOST_WORDS = 200
MOST_LOGS = 5
"""Failed checks whose logs are fetched at once."""
_NUMBER = re.compile(r"[#!]?(\d{1,9})")


@require_GET
async def show(request: HttpRequest, project_id: str) -> HttpResponse:
    """All of the panel of `?session=`, or why there is none."""
    place = await place_of(request, project_id)
    try:
        return fragment("forge/panel.html", place=place, where=await hosted_of(place))
    except (ForgeError, GitError) as problem:
        return fragment("forge/panel.html", place=place, problem=str(problem))


@require_GET
@by_forge
async def listing(request: HttpRequest, place: Place) -> HttpResponse:
    """`kind` with `q` and `closed`, from `page` on. A number alone is that one."""
    asked = request.GET
    kind, page = asked.get("kind", "issue"), asked.get("page", "1")
    if kind not in get_args(Kind) or not page.isdecimal() or not 0 < len(page) < 5:
        raise Http404(gettext("There is no such list."))
    words, closed = " ".join(asked.get("q", "").split())[:MOST_WORDS], "closed" in asked
    found = await _found(await hosted_of(place), cast(Kind, kind), words, closed, int(page))
    first = int(page) == 1
    query = {"kind": kind, "q": words, "page": str(int(page) + 1)} | ({"closed": "1"} if closed else {})
    return fragment(
        "forge/list.html" if first else "forge/rows.html",
        place=place,
        found=found,
        kind=kind,
        q=words,
        closed=closed,
        first=first,
        older=f"{reverse('forge-list', args=(place.project.id,))}?{urlencode(query)}",
    )


async def _found(where: Hosted, kind: Kind, words: str, closed: bool, page: int) -> Listing:
    async with opened(where) as forge:
        if number := _NUMBER.fullmatch(words):
            return Listing([await forge.item(kind, int(number[1]))], more=False)
        return await forge.items(kind, words=words, closed=closed, page=page)


@require_GET
@by_forge
async def item(request: HttpRequest, place: Place) -> HttpResponse:
    """One with its comments; of a pull request also its checks."""
    kind, number = item_of(request.GET)
    async with opened(await hosted_of(place)) as forge:
        return await shown(place, forge, await forge.item(kind, number))


async def shown(place: Place, forge: Forge, item: Item, **more: Any) -> HttpResponse:
    """Raises ForgeError."""
    found = await whole(forge, item)
    written = [item.body, *(one.body for one in found.comments)]
    bodies = await asyncio.to_thread(lambda: [_markdown(text) for text in written])
    comments = list(zip(found.comments, bodies[1:], strict=True))
    return fragment(
        "forge/item.html", place=place, found=found, item=item, body=bodies[0], comments=comments, **more
    )


def _markdown(text: str) -> SafeString:
    return mark_safe(render_whole(text))  # noqa: S308 (sanitised)


@require_GET
@by_forge
async def branch(request: HttpRequest, place: Place) -> HttpResponse:
    """The pull request of the branch that is checked out, or the form for a new one."""
    where = await hosted_of(place)
    here = await branch_at(place, where)
    async with opened(where) as forge:
        found = await pull_of(forge, here, where)
        if found and found.is_open:
            return await shown(place, forge, found)
        return await _form(request, place, where, here, forge, found)


async def pull_of(forge: Forge, here: Branch, where: Hosted) -> Item | None:
    """Raises ForgeError."""
    return await (forge.item("pull", here.pull) if here.pull else forge.pull_of(here.name, where.source))


async def _form(
    request: HttpRequest, place: Place, where: Hosted, here: Branch, forge: Forge, last: Item | None
) -> HttpResponse:
    """`?base=` is what it is to be merged into, else the forge's default branch; `last` one that is done."""
    base = request.GET.get("base", "") or (await forge.settings()).branch

    def read() -> tuple[Beginning | None, str, list[str]]:
        git = git_of(place.directory)
        before = f"{where.remote}/"
        there = [one.name.removeprefix(before) for one in branches(git) if one.remote]
        known = sorted({name for name in there if name != here.name})
        try:
            return beginning(git, where.remote, base), "", known
        except GitError as problem:
            return None, str(problem), known

    begun, unknown, known = await asyncio.to_thread(read)
    return fragment(
        "forge/new.html",
        place=place,
        where=where,
        here=here,
        base=base,
        bases=known,
        own=here.name == base and not where.forked,
        begun=begun,
        unknown=unknown,
        last=last,
    )


@require_GET
@by_forge
async def told(request: HttpRequest, place: Place) -> HttpResponse:
    """A text for the prompt: failed `checks` with the ends of their logs, or `comments` of reviews."""
    _, number = item_of(request.GET)
    where = await hosted_of(place)
    async with opened(where) as forge:
        found = await whole(forge, await forge.item("pull", number))
        if request.GET.get("what") == "comments":
            if not found.reviewed:
                raise ForgeError(gettext("No review has said anything that is not settled."))
            text = prompt.of_comments(found.item, found.comments, where.path)
        else:
            text = prompt.of_checks(found.item, await _failed(forge, found), where.path)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


async def _failed(forge: Forge, found: Whole) -> list[tuple[Check, str]]:
    if not found.failed:
        raise ForgeError(found.unchecked or gettext("No check has failed."))
    logs = await asyncio.gather(*(_log(forge, check) for check in found.failed[:MOST_LOGS]))
    rest = [""] * (len(found.failed) - len(logs))
    return list(zip(found.failed, [*logs, *rest], strict=True))


async def _log(forge: Forge, check: Check) -> str:
    if not check.log:
        return ""
    try:
        return await forge.log(check)
    except ForgeError as problem:
        return f"({problem})"

"""What the git panel shows: the lists of files, and the diff of one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import escape
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET

from agents.web.git import running
from agents.web.git.place import TITLES, Place, panel, path_of, place_of
from sessions.changes.diffs.hunks import FileDiff, Hunk, hunks
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.conflicts import Unmerged, sides_named, unmerged
from sessions.changes.git.history import sides_of
from sessions.changes.git.sides import Sides, staged, unstaged
from sessions.core.models.ledger import pack_path, shown
from sessions.rendering.diffs.colours import WHOLE
from sessions.rendering.diffs.table import HunkBar, Reading, Source, Table, file_mark
from sessions.web.respond import fragment
from sessions.web.review.display.files import lines

_PARTS = {
    "staged": (("unstage", gettext_noop("Unstage")),),
    "changed": (("stage", gettext_noop("Stage")), ("discard", gettext_noop("Discard"))),
    "untracked": (("stage", gettext_noop("Stage")),),
}
"""What can be done with a hunk, by the list that its file is in."""


@require_GET
async def show(request: HttpRequest, project_id: str) -> HttpResponse:
    """All of the panel of `?session=`."""
    return await answer(await place_of(request, project_id), "git/panel.html")


@require_GET
async def listing(request: HttpRequest, project_id: str) -> HttpResponse:
    """What changes by itself."""
    return await answer(await place_of(request, project_id), renewed=True)


async def answer(place: Place, template: str = "git/list.html", **context: Any) -> HttpResponse:
    """The panel as it is now, or why there is none. Where it is only `renewed`, what git said last stays."""
    try:
        found = await place.work(panel)
    except GitError as error:
        return fragment(template, place=place, problem=str(error), **context)
    return fragment(template, place=place, panel=found, running=running.of(place), **context)


@require_GET
async def diff(request: HttpRequest, project_id: str) -> HttpResponse:
    """The diff of the file `?path=` of the list `?side=`, or of the commit of that hash; with `rows` or `gap`
    that part of its table."""
    place, side = await place_of(request, project_id), request.GET.get("side", "")
    reading = Reading.asked(request.GET.dict())
    try:
        path = path_of(request.GET)
        sides = await place.work(lambda git: _sides(git, side, path))
    except GitError as error:
        return fragment("fragments/refused.html", message=str(error))
    if sides is None:
        return fragment("git/diff.html", facts=[gettext("There is no such change any more.")])
    query = urlencode(
        {"session": place.session.id if place.session else "", "side": side, "path": pack_path(path)}
    )
    url = f"{reverse('git-diff', args=(project_id,))}?{query}&{reading.query()}"
    return _shown(path, side, sides, reading, url)


@require_GET
async def conflict(request: HttpRequest, project_id: str) -> HttpResponse:
    """What the sides of the file `?path=` have, part by part, to choose from."""
    place = await place_of(request, project_id)

    def asked(git: Git) -> tuple[Unmerged, tuple[str, str]]:
        return unmerged(git, path_of(request.GET)), sides_named(git)

    try:
        file, names = await place.work(asked)
    except GitError as error:
        return fragment("git/refused.html", message=str(error))
    parts = await asyncio.to_thread(lambda: file.parts) if file.kind == "text" else []
    return fragment("git/conflict.html", file=file, parts=parts, names=names, key=pack_path(file.path))


def _sides(git: Git, side: str, path: str) -> Sides | None:
    if side == "staged":
        return staged(git, path)
    return unstaged(git, path) if side in TITLES else sides_of(git, side, path)


def _shown(path: str, side: str, sides: Sides, reading: Reading, url: str) -> HttpResponse:
    found = FileDiff(binary=True) if sides.binary else hunks(sides.before or b"", sides.after or b"")
    source = Source(shown(path), _text(sides.before), _text(sides.after), found.mixed_ends, {})
    marks = _bars(found, side) if side in _PARTS else None
    table = Table(found, reading.view, source, marks, url, file_mark(f"{side} {path}"))
    if reading.rows:
        return HttpResponse(table.rows(*reading.rows))
    if reading.gap:
        return HttpResponse(table.gap(*reading.gap, reading.take))
    shown_table = table.whole().table if found.hunks else ""
    return fragment("git/diff.html", facts=list(_facts(sides, found)), table=shown_table, seen=sides.seen)


def _text(content: bytes | None) -> str | None:
    return None if content is None or len(content) > WHOLE else content.decode("utf-8", "replace")


def _facts(sides: Sides, found: FileDiff) -> Iterator[str]:
    before, after = sides.mode_before, sides.mode_after
    if before and after and before != after:
        yield gettext("Mode %(before)s became %(after)s.") % {"before": f"{before:o}", "after": f"{after:o}"}
    if sides.binary:
        yield gettext("git shows no lines of this file: it is binary, or large.")
    elif not found.hunks and after is not None:
        yield (
            gettext("The file is empty.")
            if not sides.after and before is None
            else gettext("No line of it is another.")
        )


def _bars(found: FileDiff, side: str) -> Mapping[str, HunkBar]:
    return {hunk.key: HunkBar("here", mark_safe(_bar(hunk, side))) for hunk in found.hunks}  # noqa: S308


def _bar(hunk: Hunk, side: str) -> str:
    """Built here like the rows below it: a template for each of a thousand hunks would take a second."""
    where = lines(hunk)
    buttons = "".join(
        f'<button type="button" class="quiet" data-git-part="{act}" '
        f'aria-label="{words}: {where}">{words}</button>'
        for act, words in ((act, gettext(words)) for act, words in _PARTS[side])
    )
    word = gettext("Lines…")
    choose = gettext("Choose lines of: %(where)s") % {"where": where}
    return (
        f'<div class="hunk-bar"><span class="hunk-at">{where}</span><span class="hunk-do" '
        f'data-key="{escape(hunk.key)}">{buttons}<button type="button" class="quiet" data-git-lines '
        f'aria-pressed="false" aria-label="{choose}">{word}</button></span></div>'
    )

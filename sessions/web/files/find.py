"""Search in the files of the project and of folders beside it, and replace what is found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET

from sessions.changes.operations import files
from sessions.changes.operations.lock import Refused
from sessions.changes.snapshots.objects import object_id
from sessions.core.models import Session
from sessions.core.models.ledger import pack_path, shown, unpack_path
from sessions.core.principal import actor
from sessions.project import browsing
from sessions.project.search import SearchFailed, contents
from sessions.project.search.contents import Asked, FileHits, Hit
from sessions.rendering.html import html
from sessions.web.files.acts import done, in_session
from sessions.web.roots import Root, named, roots

APART = "<!--next-->"
"""After each fragment that is streamed."""
_LONGEST = 300
"""Characters of a line that are shown."""
_BEFORE = 16
"""Of them before the first place that was found, where a line has more: in a narrow panel it is seen then."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Of a line: as it is, or what was found (`old`), with what would be there (`new`)."""

    text: str = ""
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """`column` is where the first place is, from 1, in UTF-16 code units as browsers count."""

    number: int
    offset: int
    column: int
    pieces: tuple[Piece, ...]


@require_GET
async def find(request: HttpRequest, project_id: str) -> HttpResponse | StreamingHttpResponse:
    """Files in which `?q=` is, as they are found: `regex`, `case`, `word`, `include` and `exclude` (globs,
    by commas), and `with`, what is to be in its place where `replaces`. After those of the project come those
    of each folder beside it that `?session=` has, below the folder's name."""
    project, session, *_ = await named(project_id, request.GET.dict())
    asked = _asked(request.GET)
    if not asked.text:
        return HttpResponse()
    there = await asyncio.to_thread(roots, project, session)
    return StreamingHttpResponse(_stream(there, asked))


async def _stream(there: Iterable[Root], asked: Asked) -> AsyncIterator[str]:
    count = found = 0
    most = False
    try:
        for root in there:
            own = 0
            async with aclosing(contents.stream(root.path, asked)) as files_found:
                async for file in files_found:
                    if root.folder and not own:
                        yield html("files/find_root.html", folder=root.folder) + APART
                    yield _file(root, file, asked) + APART
                    own += len(file.hits)
                    count += 1
            found += own
            most = most or own >= contents.MOST_HITS
    except SearchFailed as problem:
        yield html("files/find_end.html", problem=str(problem)) + APART
        return
    yield html("files/find_end.html", count=count, found=found, most=most) + APART


def _file(root: Root, file: FileHits, asked: Asked) -> str:
    lines = [_line(hit) for hit in file.hits]
    return html(
        "files/find_file.html",
        name=shown(file.path),
        path=pack_path(root.seen(file.path)),
        lines=lines,
        replaces=asked.replacement is not None and not root.locked,
    )


def _line(hit: Hit) -> Line:
    first = hit.content[: hit.spans[0].start].decode("utf-8", "replace") if hit.spans else ""
    column = len(first.encode("utf-16-le", "surrogatepass")) // 2 + 1
    return Line(hit.line, hit.offset, column, tuple(_pieces(hit)))


def _pieces(hit: Hit) -> Iterator[Piece]:
    at = 0
    left = _LONGEST
    for number, span in enumerate(hit.spans):
        before = _text(hit.content[at : span.start])
        if number == 0:
            before = before.lstrip()
        if len(before) > _BEFORE and number == 0:
            before = f"…{before[-_BEFORE:]}"
        yield Piece(before[:left])
        yield Piece(old=_text(hit.content[span.start : span.end])[:left], new=_text(span.replacement)[:left])
        at = span.end
        left -= len(before) + span.end - span.start
        if left <= 0:
            return
    yield Piece(_text(hit.content[at:]).rstrip()[:left])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _asked(given: Mapping[str, str]) -> Asked:
    return Asked(
        given.get("q", "").replace("\r\n", "\n"),
        regex="regex" in given,
        case="case" in given,
        word="word" in given,
        include=_globs(given.get("include", "")),
        exclude=_globs(given.get("exclude", "")),
        replacement=given.get("with", "") if "replaces" in given else None,
    )


def _globs(text: str) -> tuple[str, ...]:
    return tuple(glob for part in text.split(",") if (glob := part.strip()))


@in_session
async def replace(request: HttpRequest, session: Session) -> HttpResponse:
    """Put `with` in the place of `q` in each `path`, or but for the lines of `without` (`offset:path`)."""
    asked = _asked(request.POST)
    paths = [unpack_path(path) for path in request.POST.getlist("path")[: files.MOST_FILES]]
    without = set(request.POST.getlist("without"))
    if not asked.text or asked.replacement is None or not paths:
        raise Refused(gettext("There is nothing to replace."))
    there = await asyncio.to_thread(roots, session.project, session)
    try:
        made, count = await asyncio.to_thread(_replaced, there, asked, paths, without)
    except (SearchFailed, browsing.Unreadable) as problem:
        raise Refused(str(problem)) from problem
    operation = await files.rewrite(session, made, act="replace", actor=actor(request))
    files_of = ngettext("%(count)s file", "%(count)s files", len(made)) % {"count": len(made)}
    words = ngettext(
        "Replaced in %(count)s line of %(files)s.", "Replaced in %(count)s lines of %(files)s.", count
    )
    return done(operation, words % {"count": count, "files": files_of})


def _replaced(
    there: Iterable[Root], asked: Asked, paths: list[str], without: set[str]
) -> tuple[dict[str, tuple[bytes, str]], int]:
    """By path the content, and what it was made of; and in how many lines. Raises SearchFailed, Unreadable,
    Refused."""
    made: dict[str, tuple[bytes, str]] = {}
    count = 0
    for path, root, file in _found(there, asked, paths):
        hits = [hit for hit in file.hits if f"{hit.offset}:{pack_path(path)}" not in without]
        data = browsing.content(root.path, file.path)
        try:
            content = contents.replaced(data, hits)
        except ValueError as error:
            raise Refused(
                gettext("%(path)s is being changed. Search again.") % {"path": shown(file.path)}
            ) from error
        if content != data:
            made[path] = content, object_id(data)
            count += len(hits)
    if not made:
        raise Refused(gettext("Nothing of it is there any more. Search again."))
    return made, count


def _found(there: Iterable[Root], asked: Asked, paths: list[str]) -> Iterator[tuple[str, Root, FileHits]]:
    """What is found in files whose paths are as seen from the session, with these paths."""
    for root in there:
        own = [root.inner(path) for path in paths if root.holds(path)]
        for file in contents.find(root.path, asked, own) if own else ():
            yield root.seen(file.path), root, file

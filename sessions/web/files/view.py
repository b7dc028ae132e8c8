"""What is in a file: text to edit, large text by windows, pictures, and what a browser can show besides."""

from __future__ import annotations

import asyncio
import mimetypes
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal
from urllib.parse import urlencode

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.changes.diffs.images import image
from sessions.changes.snapshots.objects import object_id
from sessions.core.models.ledger import pack_path, shown
from sessions.core.sentences import grouped
from sessions.project import browsing, search, texts
from sessions.rendering.blocks import render_whole
from sessions.web.access import is_here
from sessions.web.files import previews
from sessions.web.respond import fragment
from sessions.web.roots import Root, named, roots

MOST_TEXT = 4 * 1024 * 1024
"""Bytes of a file that is edited; of a larger one a window is shown."""
WINDOW = 256 * 1024
MOST_KNOWN = 200
"""Paths that are looked for at once."""
_HEAD = 1024
"""Bytes of a file that is no text, which are shown as they are."""

Kind = Literal["text", "window", "image", "pdf", "bytes"]
Preview = Literal["", "markdown", "table", "notebook"]
_PREVIEWS: dict[str, Preview] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".csv": "table",
    ".tsv": "table",
    ".ipynb": "notebook",
}
_PASSIVE = "sandbox; default-src 'none'"
_PICTURE = f"{_PASSIVE}; style-src 'unsafe-inline'"
"""Nothing in a file runs; a drawing (SVG) may have styles in it."""


@dataclass(frozen=True, slots=True)
class Found:
    """`head` is what is in it, or of a large one its first bytes; `at` where the window begins, whose first
    line has number `line`. `locked` says why it cannot be edited, empty where it can."""

    path: str
    kind: Kind
    size: int
    oid: str = ""
    text: texts.Text | None = None
    head: bytes = b""
    at: int = 0
    end: int = 0
    line: int = 1
    pixels: str = ""
    locked: str = ""

    @property
    def packed(self) -> str:
        return pack_path(self.path)

    @property
    def name(self) -> str:
        return shown(self.path)

    @property
    def before(self) -> int:
        """Where the window before begins."""
        return max(0, self.at - WINDOW)

    @property
    def dump(self) -> str:
        """The head as hexdump(1) has it, canonical."""
        lines = (self.head[at : at + 16] for at in range(0, len(self.head), 16))
        return "".join(f"{16 * number:08x}  {_dumped(line)}\n" for number, line in enumerate(lines))

    @property
    def preview(self) -> Preview:
        return _PREVIEWS.get(PurePosixPath(self.path).suffix.lower(), "") if self.kind == "text" else ""


def _dumped(line: bytes) -> str:
    letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)
    return f"{line[:8].hex(' '):<23}  {line[8:].hex(' '):<23}  |{letters}|"


@require_GET
async def view(request: HttpRequest, project_id: str) -> HttpResponse:
    """`?path=` as seen from `?session=`; of a large text the window at byte `?at=`."""
    project, session, root, path = await named(project_id, request.GET.dict())
    asked = request.GET.get("at", "0")
    try:
        found = await asyncio.to_thread(_found, root, path, int(asked) if asked.isdecimal() else 0)
    except browsing.Unreadable as problem:
        return fragment("files/gone.html", name=shown(path), path=pack_path(path), problem=str(problem))
    place = urlencode({"path": found.packed, "session": session.id if session else ""})
    return fragment(
        f"files/{found.kind}.html", project=project, file=found, place=place, here=is_here(request)
    )


def _found(root: Root, path: str, at: int) -> Found:
    """Raises Unreadable. Blocks."""
    with browsing.opened(root.path, path) as file:
        head = file.read(MOST_TEXT + 1)
        size = len(head) if len(head) <= MOST_TEXT else file.seek(0, 2)
        picture = image(head, path)
        if picture is not None:
            size_of = {
                "width": grouped(picture.width),
                "height": grouped(picture.height),
            }
            pixels = gettext("%(width)s × %(height)s pixels") % size_of if picture.width else ""
            return Found(path, "image", size, object_id(head), pixels=pixels)
        if head.startswith(b"%PDF-"):
            return Found(path, "pdf", size)
        text = texts.read(head[:MOST_TEXT])
        if text is None:
            return Found(path, "bytes", size, head=head[:_HEAD])
        if size <= MOST_TEXT:
            return Found(path, "text", size, object_id(head), text, locked=text.locked or root.locked)
        return _window(file, path, size, min(at, size), text)


def _window(file: BinaryIO, path: str, size: int, at: int, text: texts.Text) -> Found:
    """Whole lines from about a byte on."""
    file.seek(0)
    line, begin, last = 1, 0, b"\n"
    while begin < at and (piece := file.read(min(1 << 20, at - begin))):
        line += piece.count(b"\n")
        begin += len(piece)
        last = piece[-1:]
    if last != b"\n":
        begin += len(file.readline(WINDOW))
        line += 1
    data = file.read(WINDOW)
    data += file.readline(WINDOW)
    return Found(
        path,
        "window",
        size,
        text=texts.read(data) or text,
        head=data,
        at=begin,
        end=begin + len(data),
        line=line,
    )


@require_POST
async def known(request: HttpRequest, project_id: str) -> HttpResponse:
    """`{given: path}` of the texts `path` that name files of the project or of a folder beside it: whole,
    relative to `folder`, to the project, or beginning with the name of the folder, or by the end of one
    file's path alone, as what was run somewhere in the project names them."""
    project, session, *_ = await named(project_id, request.POST.dict())
    given = request.POST.getlist("path")[:MOST_KNOWN]
    folder = request.POST.get("folder", "")
    there = await asyncio.to_thread(roots, project, session)
    return JsonResponse(await asyncio.to_thread(_known, there, folder, given))


def _known(there: Sequence[Root], folder: str, given: Iterable[str]) -> dict[str, str]:
    own, *others = there
    files = {
        text: _file(own, folder, text) or _file(own, "", text) or _beside(others, text) for text in given
    }
    rest = [text.removeprefix("./") for text, path in files.items() if not path]
    try:
        ends = search.ending_with(own.path, rest) if rest else {}
    except search.SearchFailed:
        ends = {}
    found = {text: path or ends.get(text.removeprefix("./"), "") for text, path in files.items()}
    return {text: pack_path(path) for text, path in found.items() if path}


def _beside(others: Iterable[Root], text: str) -> str:
    """In a folder beside the project, by the whole path or by one that begins with the folder's name."""
    within = ((root, text.removeprefix(f"{root.name}/")) for root in others)
    meant = (_file(root, "", path) for root, path in within if path != text or os.path.isabs(text))
    return next(filter(None, meant), "")


def _file(root: Root, folder: str, text: str) -> str:
    """Its path as seen from the session; empty where there is no such file."""
    try:
        path = browsing.inside(root.path, str(Path(folder, text)))
        return root.seen(path.relative_to(root.path.resolve())) if path.is_file() else ""
    except (browsing.Unreadable, OSError):
        return ""


@require_GET
async def raw(request: HttpRequest, project_id: str) -> HttpResponse | FileResponse:
    """The bytes of `?path=`: pictures and PDF to be shown, all else only for download, and so with
    `?download`."""
    _, _, root, path = await named(project_id, request.GET.dict())
    try:
        file = await asyncio.to_thread(browsing.opened, root.path, path)
    except browsing.Unreadable as problem:
        raise Http404(str(problem)) from problem
    head = await asyncio.to_thread(file.read, _HEAD)
    await asyncio.to_thread(file.seek, 0)
    picture = image(head, path)
    kind = picture.kind if picture else "application/pdf" if head.startswith(b"%PDF-") else ""
    response = FileResponse(
        file, content_type=kind or mimetypes.guess_type(path)[0] or "application/octet-stream"
    )
    saved = not kind or "download" in request.GET
    disposition = content_disposition_header(saved, shown(PurePosixPath(path).name))
    response["Content-Disposition"] = disposition or "attachment"
    response["Cache-Control"] = "no-store"
    if kind != "application/pdf":  # a browser's reader of those is confined by itself, and does not start so
        response["Content-Security-Policy"] = _PICTURE if kind else _PASSIVE
    return response


@require_GET
async def preview(request: HttpRequest, project_id: str) -> HttpResponse:
    """`?path=` as what it means: Markdown, a table, a notebook."""
    _, _, root, path = await named(project_id, request.GET.dict())
    try:
        found = await asyncio.to_thread(_found, root, path, 0)
    except browsing.Unreadable as problem:
        raise Http404(str(problem)) from problem
    if found.text is None or not found.preview:
        raise Http404(gettext("There is no preview of this file."))
    return fragment("files/preview.html", file=found, shown=await asyncio.to_thread(_previewed, found))


def _previewed(found: Found) -> str:
    assert found.text is not None
    if found.preview == "markdown":
        return render_whole(found.text.text)
    if found.preview == "table":
        return previews.table(found.text.text, found.path)
    return previews.notebook(found.text.text)

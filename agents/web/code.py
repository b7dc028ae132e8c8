"""What language servers know of a file that is open in the page's editor: asked with the text as it stands
there, whether it is saved or not.

Lines and characters are those of the protocol (Language Server Protocol 3.17): from 0, in UTF-16 code units,
as scripts count them too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from agents.servers.lsp.client.encoding import path_of, uri_of
from agents.servers.lsp.service import service
from agents.servers.lsp.types import Failed, Location, Position
from agents.servers.lsp.uses import columns, navigate
from agents.servers.lsp.uses.edits import edited
from sessions.changes.operations import files
from sessions.changes.operations.lock import Refused
from sessions.changes.snapshots.objects import object_id
from sessions.core.filetext import Unencodable
from sessions.core.models import Session
from sessions.core.models.ledger import pack_path, unpack_path
from sessions.core.principal import actor
from sessions.project import browsing, texts
from sessions.rendering.blocks import render_whole
from sessions.web.access import Located, located
from sessions.web.files.acts import given
from sessions.web.respond import REFUSED
from sessions.web.roots import Root, root_of

SECONDS = 10.0
"""How long a question may take, a server's start included."""
QUICK_SECONDS = 4.0
MOST_ITEMS = 200
MOST_PLACES = 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """`path` is within `root`; `text` what the editor has, and `content` what the file holds
    once that is saved: what is said of it then holds for the file."""

    root: Root
    path: Path
    text: str
    content: bytes
    place: Position
    session: Session | None
    form: Mapping[str, str]
    who: str

    async def ask(self, method: str, more: Mapping[str, Any] = {}, *, within: float = SECONDS) -> list[Any]:
        """What servers answer. Raises Failed."""
        params = {"textDocument": {"uri": uri_of(self.path)}, **more}
        answers = await service.ask(self.root.path, self.path, method, params, within, content=self.content)
        return [answer for _, answer in answers if answer is not None]

    @property
    def at(self) -> dict[str, Any]:
        return {"position": {"line": self.place.line, "character": self.place.character}}


@require_POST
async def ask(request: HttpRequest) -> HttpResponse:
    """`op` about `path` of a project, or of a folder beside it that may be written, at `line` and
    `character`, whose text is `text`. `{"off"}`: there is no server for it; `{"words"}` says why there is no
    answer."""
    found = await located(request.POST)
    operation = _OPERATIONS.get(request.POST.get("op", ""))
    asked = await asyncio.to_thread(_asked, request, found)
    if operation is None or asked is None or not await service.serves(asked.root.path, asked.path):
        return JsonResponse({"off": True})
    try:
        return JsonResponse(await operation(asked))
    except (Failed, TimeoutError, Refused, Unencodable, browsing.Unreadable) as problem:
        return JsonResponse({"words": str(problem) or gettext("It took too long.")}, status=REFUSED)


def _asked(request: HttpRequest, found: Located) -> Asked | None:
    form = request.POST
    named = unpack_path(form.get("path", ""))
    root = root_of(found.project, found.session, named)
    if root.locked:
        return None
    try:
        path = browsing.inside(root.path, named)
        place = Position.parse({"line": int(form.get("line", 0)), "character": int(form.get("character", 0))})
    except (browsing.Unreadable, ValueError):
        return None
    session = found.session
    if session is not None:
        session.project = found.project
    text = given(form, "text")
    return Asked(root, path, text, _content(root, path, text), place, session, form.dict(), actor(request))


def _content(root: Root, path: Path, text: str) -> bytes:
    try:
        found = texts.read(_read(root, path))
        return found.encoded(text) if found else text.encode()
    except Unencodable:
        return text.encode()


async def _diagnostics(asked: Asked) -> dict[str, Any]:
    found = await service.touch(asked.root.path, asked.path, wait=SECONDS, content=asked.content)
    return {
        "diagnostics": [
            {
                **one.range.wire(),
                "severity": one.severity,
                "message": one.message,
                "source": one.source or one.server,
            }
            for one in found
        ]
    }


async def _hover(asked: Asked) -> dict[str, Any]:
    texts = navigate.hovers(await asked.ask("textDocument/hover", asked.at, within=QUICK_SECONDS))
    return {"html": await asyncio.to_thread(render_whole, "\n\n---\n\n".join(texts))} if texts else {}


async def _definition(asked: Asked) -> dict[str, Any]:
    return await _places(asked, "goToDefinition")


async def _references(asked: Asked) -> dict[str, Any]:
    return await _places(asked, "findReferences")


async def _places(asked: Asked, operation: navigate.Operation) -> dict[str, Any]:
    found = await navigate.ask(asked.root.path, operation, asked.path, asked.place, "", asked.content)
    return await asyncio.to_thread(_named, asked.root, navigate.locations(found)[:MOST_PLACES])


def _named(root: Root, found: Iterable[Location]) -> dict[str, Any]:
    """Places in the root, with their lines; the first elsewhere is named."""
    folder = root.path.resolve()
    places: list[dict[str, Any]] = []
    outside = ""
    lines: dict[Path, list[str]] = {}
    for location in found:
        if not location.path.is_relative_to(folder):
            outside = outside or f"{location.path}:{location.range.start.line + 1}"
            continue
        if location.path not in lines:
            lines[location.path] = columns.lines_of(_read(root, location.path))
        start, text = location.range.start, lines[location.path]
        places.append(
            {
                "path": pack_path(root.seen(location.path.relative_to(folder))),
                "line": start.line + 1,
                "column": start.character + 1,
                "text": text[start.line].strip()[:200] if start.line < len(text) else "",
            }
        )
    return {"places": places, "outside": outside}


def _read(root: Root, path: Path) -> bytes:
    try:
        return browsing.content(root.path, str(path))
    except browsing.Unreadable:
        return b""


async def _completion(asked: Asked) -> dict[str, Any]:
    answers = await asked.ask("textDocument/completion", asked.at, within=QUICK_SECONDS)
    items = [item for answer in answers for item in _items(answer)]
    items.sort(key=lambda item: str(item.get("sortText") or item["label"]))
    return {"items": [_item(item) for item in items[:MOST_ITEMS]], "more": len(items) > MOST_ITEMS}


def _items(answer: Any) -> list[dict[str, Any]]:
    """Of a CompletionList or a list."""
    listed = answer.get("items") if isinstance(answer, dict) else answer
    found = listed if isinstance(listed, list) else []
    return [item for item in found if isinstance(item, dict) and isinstance(item.get("label"), str)]


_KINDS = {
    2: "method", 3: "function", 4: "method", 5: "property", 6: "variable", 7: "class", 8: "interface",
    9: "namespace", 10: "property", 13: "enum", 14: "keyword", 20: "enum", 21: "constant", 22: "class",
    25: "type",
}  # fmt: skip
"""CompletionItemKind, as the editor draws them."""


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    edit = item.get("textEdit")
    text = edit.get("newText") if isinstance(edit, dict) else None
    label = str(item["label"]).strip()
    return {
        "label": label,
        "apply": str(text or item.get("insertText") or label),
        "type": _KINDS.get(item.get("kind", 0), "text"),
        "detail": str(item.get("detail") or "")[:120],
    }


async def _format(asked: Asked) -> dict[str, Any]:
    options = {"tabSize": 4, "insertSpaces": "\t" not in asked.text}
    for edits in await asked.ask("textDocument/formatting", {"options": options}):
        return {"text": edited(asked.text, edits)}
    return {}


async def _rename(asked: Asked) -> dict[str, Any]:
    """In all files, as they are on the disk; the page has saved this one before."""
    if asked.session is None:
        raise Refused(gettext("Open a session first: what is renamed belongs to one."))
    more = {**asked.at, "newName": asked.form.get("name", "")}
    changes: dict[str, tuple[bytes, str]] = {}
    for answer in await asked.ask("textDocument/rename", more):
        changes |= await asyncio.to_thread(_renamed, asked.root, answer)
    if not changes:
        raise Refused(gettext("Nothing is to be renamed here."))
    operation = await files.rewrite(asked.session, changes, actor=asked.who)
    return {"files": len(changes), "operation": operation.id if operation else ""}


def _renamed(root: Root, answer: Mapping[str, Any]) -> dict[str, tuple[bytes, str]]:
    """By path the content and what it was made of (its object id). Raises Refused."""
    by_uri: dict[str, list[Any]] = dict(answer.get("changes") or {})
    for change in answer.get("documentChanges") or ():
        if "textDocument" not in change:
            raise Refused(gettext("The language server wants to make or move files, which is not done here."))
        by_uri.setdefault(change["textDocument"]["uri"], []).extend(change["edits"])
    folder = root.path.resolve()
    found = {}
    for uri, edits in by_uri.items():
        path = path_of(uri)
        if path is None or not path.resolve().is_relative_to(folder):
            raise Refused(gettext("The language server wants to change files outside of the project."))
        relative = root.seen(path.resolve().relative_to(folder))
        data = browsing.content(root.path, relative)
        text = texts.read(data)
        if text is None:
            raise Refused(gettext("%(relative)s is no text.") % {"relative": relative})
        found[relative] = text.encoded(edited(text.text, edits)), object_id(data)
    return found


_OPERATIONS: dict[str, Callable[[Asked], Awaitable[dict[str, Any]]]] = {
    "diagnostics": _diagnostics,
    "hover": _hover,
    "definition": _definition,
    "references": _references,
    "completion": _completion,
    "format": _format,
    "rename": _rename,
}

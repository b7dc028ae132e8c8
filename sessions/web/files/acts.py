"""What a person does to files: save one, make, move, copy and remove. Each can be taken back
(`sessions.changes.operations.files`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_POST

from sessions.changes.operations import files
from sessions.changes.operations.lock import Refused
from sessions.changes.review.conflicts import chosen, open_merge
from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.filetext import Unencodable
from sessions.core.models import Operation, Project, Session
from sessions.core.models.ledger import shown, unpack_path
from sessions.core.principal import actor
from sessions.core.store import sessions as session_store
from sessions.project import browsing, texts
from sessions.web.access import find_session, project_of
from sessions.web.respond import REFUSED, late, toast
from sessions.web.review.pages.answers import settle_form
from sessions.web.roots import named, root_of

MOST_UPLOADED = 200

Act = Callable[[HttpRequest, Session], Awaitable[HttpResponse]]
View = Callable[[HttpRequest, str], Coroutine[Any, Any, HttpResponse]]


def in_session(act: Act) -> View:
    """Act in the session of the form, or in one for what is done by hand. What is refused is a toast."""

    @require_POST
    @wraps(act)
    async def view(request: HttpRequest, project_id: str) -> HttpResponse:
        project = await project_of(project_id)
        session = await in_db(_session, project, request.POST.get("session", ""))
        try:
            response = await act(request, session)
        except Refused as problem:
            return late(str(problem))
        response["X-Session"] = session.id
        return response

    return view


def _session(project: Project, session_id: str) -> Session:
    found = find_session(project.id, session_id) if session_id else None
    found = found or session_store.by_hand(project)
    found.project = project
    return found


def _path(request: HttpRequest, name: str = "path") -> str:
    return unpack_path(request.POST.get(name, ""))


def _named(path: str) -> str:
    """A path that a person typed. Raises Refused."""
    made = str(PurePosixPath(path.strip()))
    if not path.strip() or made == "." or "\0" in made:
        raise Refused(gettext("A name is needed."))
    return made


def done(operation: Operation | None, words: str) -> HttpResponse:
    undo = reverse("invert-operation", args=(operation.project_id, operation.id)) if operation else ""
    return toast(words, undo=undo)


@in_session
async def make(request: HttpRequest, session: Session) -> HttpResponse:
    """A new file `path`, or a folder with `folder`."""
    path = _named(_path(request))
    if "folder" in request.POST:
        await files.new_folder(session, path)
        return done(None, gettext("Made the folder %(path)s.") % {"path": shown(path)})
    return done(
        await files.make(session, {path: b""}, actor=actor(request)),
        gettext("Made %(path)s.") % {"path": shown(path)},
    )


@in_session
async def move(request: HttpRequest, session: Session) -> HttpResponse:
    """`path` goes `to` another place."""
    path, target = _path(request), _named(_path(request, "to"))
    operation = await files.move(session, path, target, actor=actor(request))
    return done(
        operation, gettext("Moved %(path)s to %(target)s.") % {"path": shown(path), "target": shown(target)}
    )


@in_session
async def copy(request: HttpRequest, session: Session) -> HttpResponse:
    """Beside it, or with `into` in that folder; under another name where there is one of its name."""
    path, folder = _path(request), _path(request, "into")
    wanted = str(PurePosixPath(folder, PurePosixPath(path).name)) if folder else path
    root = await asyncio.to_thread(root_of, session.project, session, wanted)
    target = await asyncio.to_thread(_free, root.path, wanted)
    operation = await files.copy(session, path, target, actor=actor(request))
    return done(
        operation,
        gettext("Made %(target)s, a copy of %(path)s.") % {"target": shown(target), "path": shown(path)},
    )


def _free(root: Path, path: str) -> str:
    """The path itself, or beside it one that nothing has yet."""
    whole = PurePosixPath(path)
    if not (root / path).exists():
        return path
    names = ("copy", *(f"copy {number}" for number in range(2, 1000)))
    made = (str(whole.with_name(f"{whole.stem} {name}{whole.suffix}")) for name in names)
    return next((name for name in made if not (root / name).exists()), path)


@in_session
async def remove(request: HttpRequest, session: Session) -> HttpResponse:
    path = _path(request)
    operation = await files.remove(session, path, actor=actor(request))
    return done(operation, gettext("Removed %(path)s.") % {"path": shown(path)})


@in_session
async def upload(request: HttpRequest, session: Session) -> HttpResponse:
    """The files of the form go into the folder `path`."""
    folder, given = _path(request), request.FILES.getlist("file")
    if not 0 < len(given) <= MOST_UPLOADED:
        raise Refused(gettext("Up to %(count)s files can be uploaded at once.") % {"count": MOST_UPLOADED})
    contents = {str(PurePosixPath(folder) / _named(file.name or "")): file.read() for file in given}
    operation = await files.make(session, contents, actor=actor(request))
    if len(contents) == 1:
        return done(operation, gettext("Uploaded %(names)s.") % {"names": shown(next(iter(contents)))})
    return done(operation, gettext("Uploaded %(count)s files.") % {"count": len(contents)})


@in_session
async def save(request: HttpRequest, session: Session) -> HttpResponse:
    """Write `text` to `path`, which the person `seen` so (its object id), with the line ends that it has, or
    with `ending` in all lines. `{"seen"}` is what it is then; 409 where it has been changed meanwhile."""
    path, seen = _path(request), request.POST.get("seen", "")
    try:
        root = await asyncio.to_thread(root_of, session.project, session, path)
        content = await asyncio.to_thread(_encoded, root.path, path, request.POST)
        await files.save(session, path, content, seen, actor=actor(request))
    except files.Changed as problem:
        return JsonResponse({"words": str(problem)}, status=409)
    except Refused as problem:
        return JsonResponse({"words": str(problem)}, status=REFUSED)
    return JsonResponse({"seen": object_id(content)})


def _text(root: Path, path: str) -> tuple[bytes | None, texts.Text]:
    """What is in a file now, None for no file, and how it is text. Raises Refused."""
    try:
        data = browsing.content(root, path)
    except browsing.Missing:
        data = None
    except browsing.Unreadable as problem:
        raise Refused(str(problem)) from problem
    found = texts.read(data or b"")
    if found is None:
        raise Refused(gettext("What is in the file now is no text."))
    return data, found


def given(form: Mapping[str, str], name: str) -> str:
    """A text as the editor has it: forms send every line end as CRLF (HTML, 4.10.21.8)."""
    return form.get(name, "").replace("\r\n", "\n")


def _encoded(root: Path, path: str, form: Mapping[str, str]) -> bytes:
    _, found = _text(root, path)
    ending = form.get("ending", "")
    try:
        return found.encoded(given(form, "text"), ending if ending in texts.ENDINGS else "")
    except Unencodable as problem:
        raise Refused(str(problem)) from problem


@require_POST
async def merge(request: HttpRequest, project_id: str) -> HttpResponse:
    """`text` was made of `base`, and the file has been changed meanwhile: what comes of both, with the file
    as it is, `{"text", "base", "seen"}`; where both changed the same, `{"form"}` asks what it is to be there,
    whose answers come in `choice-N`."""
    _, _, root, path = await named(project_id, request.POST.dict())
    try:
        data, now = await asyncio.to_thread(_text, root.path, path)
    except Refused as problem:
        return JsonResponse({"words": str(problem)}, status=REFUSED)
    base, mine = (given(request.POST, name).encode() for name in ("base", "text"))
    seen = object_id(data) if data is not None else ""
    both = await asyncio.to_thread(open_merge, base, mine, now.text.encode(), seen)
    if both.conflicts and "choice-0" not in request.POST:
        labels = (gettext_noop("As you have it"), gettext_noop("As it is on the disk"))
        form = settle_form("opened", "", both, labels=labels, act=gettext_noop("Take into the text"))
        return JsonResponse({"form": form})
    made = chosen(both, request.POST.dict()) or b""
    return JsonResponse({"text": made.decode(), "seen": seen, "base": now.text})

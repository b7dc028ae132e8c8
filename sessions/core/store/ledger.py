"""The ledger of file changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext

from sessions.core.ids import now
from sessions.core.models import FileChange, Message, Operation, Part, Session
from sessions.core.models.ledger import shown

from . import events
from .children import errand_of
from .rows import worktree_of

_PATHS = 500  # of one query
VERDICTS = (Operation.Kind.UNDO, Operation.Kind.REDO)
"""Kinds of operations that take back single hunks or files, and not the conversation: what they write counts
as a change of the turn whose hunks they are on (`FileChange.message_id`), if it is one of the ledger's.
"""

_COUNTS = Q(operation=None) | Q(
    operation__kind__in=(*VERDICTS, Operation.Kind.RESTAGE),
    operation__state__in=(Operation.State.DONE, Operation.State.CLOSED),
)
_BESIDE = Q(operation__kind__in=VERDICTS, message_id="")  # a verdict on changes that no turn made
MOST_VERSIONS = 30


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a conversation from which on something is taken back: a message, or a part of it."""

    message_id: str
    part_id: str = ""

    def onward(self, session_id: str) -> Q:
        """Ledger entries from here on, in the session it is a place of and in those of its subagents."""
        message, part = self.message_id, self.part_id
        own = Q(message_id__gt=message) | Q(message_id=message, part_id__gte=part)
        below = Q(for_message_id__gt=message) | Q(for_message_id=message, for_part_id__gte=part)
        return Q(session_id=session_id) & own | Q(for_session_id=session_id) & below

    def covers(self, change: FileChange, session_id: str) -> bool:
        """Whether one entry is from here on."""
        if change.session_id == session_id:
            place = (change.message_id, change.part_id)
        else:
            place = (change.for_message_id, change.for_part_id)
        return place >= (self.message_id, self.part_id)


@dataclass(frozen=True, slots=True)
class Later:
    """Who has changed a file after an entry of the ledger, and the content that the newest entry left."""

    names: tuple[str, ...]
    content: str | None
    skipped: bool


def add(session: Session, changes: Iterable[FileChange]) -> None:
    """Append changes; every one must name its path and contents, and its project where that is not the
    session's. The rest is filled in here."""
    made = list(changes)
    with events.together():
        errand = errand_of(session)
        for change in made:
            change.session, change.time_created = session, now()
            change.project_id = change.project_id or session.project_id
            if errand is not None:
                change.for_session_id = errand.session_id
                change.for_message_id, change.for_part_id = errand.message_id, errand.id
        FileChange.objects.bulk_create(made)
        for change in made:
            announce(change)


def cut_off(session_id: str) -> list[tuple[str, str]]:
    """The files that calls of an answer which has not ended wrote, or were about to: worktree and path."""
    open_ = Message.objects.filter(
        session_id=session_id, role="assistant", data__time__completed__isnull=True
    )
    rows = FileChange.objects.filter(message_id__in=list(open_.values_list("id", flat=True)), operation=None)
    return list(rows.filter(origin="edit").values_list("project__worktree", "path").distinct())


def last_content(project_id: str, path: str) -> str | None:
    """What the newest entry of a file left in it, as an address in the object store; None without one."""
    rows = FileChange.objects.filter(project_id=project_id, path=path).order_by("-id")
    return rows.values_list("after", flat=True).first()


def announce(change: FileChange) -> None:
    """Tell that a file was changed; call it inside `atomic`."""
    file = shown(f"{worktree_of(change.project_id)}/{change.path}")
    properties = {"sessionID": change.session_id, "file": file, "messageID": change.message_id}
    if change.for_session_id:
        properties["forSessionID"] = change.for_session_id
    watched = {"file": file, "event": _kind(change)}
    for type, told in (("file.edited", properties), ("file.watcher.updated", watched)):
        events.record(type, told, project=change.project_id, session=change.session_id)


def changed(session: Session) -> None:
    """Tell pages that a review has something new; call it inside `atomic`."""
    properties = {"sessionID": session.id}
    events.record("review.changed", properties, project=session.project_id, session=session.id)


def versions(project_id: str, path: str) -> list[FileChange]:
    """What changed a file whose content before is at hand, the newest first."""
    rows = FileChange.objects.filter(project_id=project_id, path=path, skipped="")
    return list(rows.exclude(before="").order_by("-id")[:MOST_VERSIONS])


def _kind(change: FileChange) -> str:
    """What became of a file, as one who watches it would tell."""
    if change.skipped or (change.before and change.after):
        return "change"
    return "add" if change.after else "unlink"


def by_tools(session_id: str, *, since: str = "", before: str = "") -> QuerySet[FileChange]:
    """What tools changed and no undo of the conversation took back, with the verdicts on it, oldest first:
    all, or of messages in `[since, before)`. What subagents changed belongs to the message that sent them.
    """
    own, below = Q(session_id=session_id), Q(for_session_id=session_id)
    if since:
        own, below = own & Q(message_id__gte=since), below & Q(for_message_id__gte=since)
    if before:
        own, below = own & Q(message_id__lt=before), below & Q(for_message_id__lt=before)
    return FileChange.objects.filter(own | below, _COUNTS, undone_by=None).exclude(_BESIDE).order_by("id")


def undoable(session_id: str, below: Q | None = None) -> QuerySet[FileChange]:
    """What tools and subagents changed and the verdicts on it, oldest first: in effect, or taken back by an
    undo of this session that can still be redone. `below` adds entries of sessions it sent itself.
    """
    open_to_redo = Q(undone_by=None) | Q(
        undone_by__state=Operation.State.DONE, undone_by__session_id=session_id
    )
    family = Q(session_id=session_id) | Q(for_session_id=session_id) | (below or Q())
    return FileChange.objects.filter(open_to_redo, family, _COUNTS).exclude(_BESIDE).order_by("id")


def locate(session_id: str, message_id: str, part_id: str = "") -> Point | None:
    """Where an undo from this message or part begins: an answer is taken back with its question."""
    message = Message.objects.filter(session_id=session_id, id=message_id).first()
    if message is None:
        return None
    if part_id:
        known = Part.objects.filter(message_id=message_id, id=part_id).exists()
        return Point(message_id, part_id) if known else None
    asked = Message.objects.filter(session_id=session_id, role="user", id__lte=message_id)
    return Point(asked.order_by("-id").values_list("id", flat=True).first() or message_id)


def projects_of(session: Session) -> set[str]:
    """Those that a session, its subagents and verdicts on them have changed files of, and its own."""
    family = Q(session=session) | Q(for_session=session) | Q(session__parent_id=session.id)
    family |= Q(operation__session=session)
    found = FileChange.objects.filter(family).exclude(project_id=session.project_id)
    return {session.project_id, *found.values_list("project_id", flat=True).distinct()}


def since(session_id: str, point: Point) -> QuerySet[FileChange]:
    """What an undo from a point on takes back, oldest first: also of the subagents sent from there on. The
    ledger names the topmost session that sent one; for a session in between, its calls name them."""
    above = Session.objects.filter(id=session_id).values_list("parent_id", flat=True).first()
    below = Q()
    for child, prompt in _sent(session_id, point) if above else ():
        below |= Q(session_id=child, message_id__gte=prompt) & ~Q(for_session=None)
    return undoable(session_id, below).filter(point.onward(session_id) | below)


def _sent(session_id: str, point: Point) -> Iterator[tuple[str, str]]:
    """The sessions that calls from a point on sent, and those that these sent, each with its first prompt."""
    later = Q(message_id__gt=point.message_id) | Q(message_id=point.message_id, id__gte=point.part_id)
    calls = Part.objects.filter(later, session_id=session_id, data__state__metadata__promptId__isnull=False)
    first: dict[str, str] = {}
    for call in calls.order_by("message_id", "id"):
        metadata = call.data["state"]["metadata"]
        first.setdefault(str(metadata.get("sessionId")), str(metadata["promptId"]))
    children = Session.objects.filter(parent_id=session_id, id__in=first)
    for child in children.values_list("id", flat=True):
        yield child, first[child]
        yield from _sent(child, Point(first[child]))


def later(project_id: str, after: Mapping[str, int]) -> dict[str, Later]:
    """By path, who changed a file after the entry of that id, and what the newest entry left in it."""
    found: dict[str, Later] = {}
    paths = list(after)
    for begin in range(0, len(paths), _PATHS):
        chunk = {path: after[path] for path in paths[begin : begin + _PATHS]}
        rows = FileChange.objects.filter(
            project_id=project_id, path__in=list(chunk), id__gte=min(chunk.values())
        )
        names = _names(rows, chunk)
        for row in _newest(rows):
            found[row.path] = Later(tuple(names.get(row.path, ())), row.after or None, bool(row.skipped))
    return found


def _newest(rows: QuerySet[FileChange]) -> Iterable[FileChange]:
    """The last entry of each file that was carried out."""
    done = rows.exclude(operation__state__in=(Operation.State.PLANNED, Operation.State.WITHDRAWN))
    ids = done.order_by().values("path").annotate(newest=Max("id")).values_list("newest", flat=True)
    return FileChange.objects.filter(id__in=list(ids)).only("path", "after", "skipped")


def _names(rows: QuerySet[FileChange], after: Mapping[str, int]) -> dict[str, dict[str, None]]:
    """By path, in words, whose tools changed it; verdicts are shown where they were given."""
    found: dict[str, dict[str, None]] = {}
    owners: dict[str, str] = {}
    made = rows.filter(operation=None).order_by("id")
    for path, pk, origin, session, title in made.values_list(
        "path", "id", "origin", "session_id", "session__title"
    ):
        names = found.setdefault(path, {})
        if pk == after[path]:
            owners[path] = session
            if origin == FileChange.Origin.FORMATTER:
                names["a formatter"] = None
        elif pk > after[path]:
            names[
                gettext("a later turn")
                if owners.get(path) == session
                else gettext("the session “%(title)s”") % {"title": title}
            ] = None
    return found

"""Which messages are in the index of words.

`Message.document` is the number of a message in the index, None while it is not in it: whoever writes a
message sets it so. What is due is put in a moment later, many at once (`catch_up`), and before anybody looks
for something.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.db import DatabaseError, connection, transaction
from django.db.models import Max, QuerySet

from sessions.core.bounded import Bounded
from sessions.core.index import fts
from sessions.core.index.document import document
from sessions.core.models import Message, Part
from sessions.core.prepared import Prepared

from .rows import project_of

logger = logging.getLogger(__name__)

FEW = 25
"""Messages that whoever looks for something puts in first."""
SPARE = 20_000
"""Documents that no longer stand for a message, beyond as many as do, until the index is made anew."""

_BATCH = 500
_PARTS = Prepared(lambda message_id: Part.objects.filter(message_id=message_id).order_by("id"))
# The condition lets it look at the end of an index, which has no more than these.
_LAST = "SELECT COALESCE(MAX(document), 0) FROM opencode_sessions_message WHERE document IS NOT NULL"
_UPDATE = "UPDATE opencode_sessions_message SET document = %s WHERE id = %s"
_TOUCH = "UPDATE opencode_sessions_message SET document = NULL WHERE document IS NOT NULL AND id IN ({})"
_growing: Bounded[str, None] = Bounded(4096)
"""Answers that this process writes: they are not in it, which none of their many parts changes."""


def touch(message_ids: Iterable[str]) -> None:
    """The texts of these messages are others than before: they are due. Call it inside `atomic`."""
    ids = [message_id for message_id in dict.fromkeys(message_ids) if message_id not in _growing]
    for start in range(0, len(ids), _BATCH):
        some = ids[start : start + _BATCH]
        with connection.cursor() as cursor:
            cursor.execute(_TOUCH.format(", ".join(["%s"] * len(some))), some)


def written(row: Message) -> None:
    """A message was written itself, and is due by that."""
    if _is_open(row):
        _growing[row.id] = None
    else:
        _growing.pop(row.id, None)


def _is_open(row: Message) -> bool:
    """Whether it is an answer that still grows."""
    time = row.data.get("time") if isinstance(row.data, dict) else None
    return row.role == "assistant" and not (isinstance(time, dict) and time.get("completed"))


def catch_up(limit: int, *, newest: bool = False) -> int:
    """Put in so many that are due, the oldest or the newest ones, in one transaction, and return how many; a
    faulty index is made anew. Raises DatabaseError."""
    if not is_possible() or not due().exists():
        return 0
    with transaction.atomic():
        rows = _next(limit, newest)
        if _add(rows):
            return len(rows)
        start_over()
        rows = _next(limit, newest)
        return len(rows) if _add(rows) else 0


def take_in() -> None:
    """Put in the newest of what is due, so that what was written this moment is found; a full disk keeps
    nobody from looking."""
    with suppress(DatabaseError):
        catch_up(FEW, newest=True)


def _next(limit: int, newest: bool) -> Sequence[Message]:
    """In their order."""
    return list(due().reverse()[:limit])[::-1] if newest else list(due()[:limit])


def due() -> QuerySet[Message]:
    """The messages that have ended and are not in the index, the oldest first."""
    rows = Message.objects.filter(document=None).order_by("id")
    return rows.exclude(role="assistant", data__time__completed__isnull=True)


@dataclass(frozen=True, slots=True)
class Progress:
    """How many messages are in the index, of how many that could be."""

    done: int
    total: int


def progress() -> Progress | None:
    """None where all are in it; also where none can be."""
    waiting = due().count() if is_possible() else 0
    if not waiting:
        return None
    total = Message.objects.count()
    return Progress(total - waiting, total)


def is_possible() -> bool:
    """Whether this database can have an index."""
    return fts.is_possible()


def prepare() -> None:
    """Make the index where there is none for this program, or where too much of it stands for nothing."""
    if not is_possible():
        return
    there = Message.objects.filter(document__isnull=False)
    living = there.count()
    last = there.aggregate(last=Max("document"))["last"] or 0
    if not fts.exists() or last - living > living + SPARE:
        start_over()


def start_over() -> None:
    """An empty index; all messages are due. Raises DatabaseError."""
    with transaction.atomic():
        fts.create()
        Message.objects.filter(document__isnull=False).update(document=None)


def _add(rows: Sequence[Message]) -> bool:
    """Put them in; False where the index has a fault, and they stay due."""
    if not rows or not is_possible():
        return True
    with connection.cursor() as cursor:
        cursor.execute(_LAST)
        numbers = range(cursor.fetchone()[0] + 1, 2**63)
        sound = _try([(number, _words(row)) for number, row in zip(numbers, rows, strict=False)])
        changed = [(number if sound else None, row.id) for number, row in zip(numbers, rows, strict=False)]
        cursor.executemany(_UPDATE, changed)
    return sound


def _try(documents: Collection[tuple[int, set[str]]]) -> bool:
    try:
        fts.add(documents)
    except fts.Fault as error:
        logger.warning("the index of conversations has a fault: %s", error)
        return False
    return True


def _words(row: Message) -> set[str]:
    return document(row, project_of(row.session_id), _PARTS.rows(row.id))

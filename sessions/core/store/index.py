"""Which messages are in the index of words, and that they get there in the transaction that writes them.

`Message.document` is the number of a message in the index, None while it is not in it: while an answer grows,
when many were written at once, and when the index had a fault. What is due is put in later (`catch_up`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Max, QuerySet

from sessions.core.bounded import Bounded
from sessions.core.index import fts
from sessions.core.index.document import document
from sessions.core.models import Message, Part
from sessions.core.prepared import Prepared

from .rows import project_of

logger = logging.getLogger(__name__)

AT_ONCE = 8
"""Messages that are put in by the transaction that writes them; of more, all are left for later."""
SPARE = 20_000
"""Documents that no longer stand for a message, beyond as many as do, until the index is made anew."""

_BATCH = 500
_MESSAGE = Prepared(lambda message_id: Message.objects.filter(id=message_id))
_PARTS = Prepared(lambda message_id: Part.objects.filter(message_id=message_id).order_by("id"))
_LAST = "SELECT COALESCE(MAX(document), 0) FROM opencode_sessions_message"
_UPDATE = "UPDATE opencode_sessions_message SET document = %s WHERE id = %s"
_growing: Bounded[str, None] = Bounded(4096)
"""Answers that this process writes: of each of their many parts nobody has to ask whether they have ended."""


class _Touched(threading.local):
    rows: dict[str, Message | None] | None = None


_touched = _Touched()


@contextmanager
def once() -> Iterator[None]:
    """What is touched meanwhile is put in at the end, each message once. Use it inside `atomic`."""
    if _touched.rows is not None:
        yield
        return
    rows = _touched.rows = {}
    try:
        yield
    finally:
        _touched.rows = None
    if rows:
        _put(rows)


def touch(message_ids: Iterable[str]) -> None:
    """The texts of these messages are others than before. Call it inside `atomic`; a fault of the index does
    no harm to what was written."""
    _touch({message_id: None for message_id in message_ids if message_id not in _growing})


def written(row: Message) -> None:
    """The same of a message that was written itself."""
    if _is_open(row):
        _growing[row.id] = None
    else:
        _growing.pop(row.id, None)
        _touch({row.id: row})


def _touch(rows: dict[str, Message | None]) -> None:
    if _touched.rows is None:
        _put(rows)
    else:
        _touched.rows.update((key, row) for key, row in rows.items() if row or key not in _touched.rows)


def _put(rows: dict[str, Message | None]) -> None:
    if len(rows) > AT_ONCE:
        ids = list(rows)
        for start in range(0, len(ids), _BATCH):
            again = Message.objects.filter(id__in=ids[start : start + _BATCH], document__isnull=False)
            again.update(document=None)
        return
    known = [row or _MESSAGE.first(message_id) for message_id, row in rows.items()]
    _add([row for row in known if row is not None and not _is_open(row)])


def _is_open(row: Message) -> bool:
    """Whether it is an answer that still grows."""
    time = row.data.get("time") if isinstance(row.data, dict) else None
    return row.role == "assistant" and not (isinstance(time, dict) and time.get("completed"))


def catch_up(limit: int) -> int:
    """Put in so many that are due, in one transaction, and return how many; a faulty index is made anew.
    Raises DatabaseError."""
    if not is_possible():
        return 0
    with transaction.atomic():
        rows = list(due()[:limit])
        if _add(rows):
            return len(rows)
        start_over()
        rows = list(due()[:limit])
        return len(rows) if _add(rows) else 0


def due() -> QuerySet[Message]:
    """The messages that have ended and are not in the index, the oldest first."""
    rows = Message.objects.filter(document=None).order_by("time_created")
    return rows.exclude(role="assistant", data__time__completed__isnull=True)


@dataclass(frozen=True, slots=True)
class Progress:
    """How many messages are in the index, of how many that could be."""

    done: int
    total: int


def progress() -> Progress | None:
    """None where all are in it, but for what was written this moment; also where none can be."""
    waiting = due().count() if is_possible() else 0
    if waiting <= AT_ONCE:
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
    living = Message.objects.filter(document__isnull=False).count()
    last = Message.objects.aggregate(last=Max("document"))["last"] or 0
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

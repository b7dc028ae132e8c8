"""The index as a table of the database (docs/decisions/0039): of FTS5 in SQLite, of a tsvector in PostgreSQL.

The table has no texts and no places of words: only which words each document has, by its number. What was put
in stays in, so whoever asks has to know which of the numbers still stand for something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from django.db import DatabaseError, connection

from . import fts5, tsvector
from .fts5 import PREFIX
from .words import Lookup

__all__ = ["PREFIX", "TABLE", "Fault", "add", "create", "exists", "is_possible", "messages"]

TABLE = f"{PREFIX}_2"
"""The number is raised when other words are put in than before: what was indexed is indexed anew then."""


class Fault(Exception):
    """The index is missing or damaged, so nothing was put in, or nothing can be found."""


def is_possible() -> bool:
    """Whether this database can have such an index."""
    return bool(_kind().is_possible())


def exists() -> bool:
    return bool(_kind().exists(TABLE))


def create() -> None:
    """An empty one in place of what there is, in whatever state that is. Call it inside `atomic`."""
    _kind().create(TABLE)


def add(documents: Iterable[tuple[int, set[str]]]) -> None:
    """Put in the words of documents, by their numbers. Raises Fault."""
    with _faults():
        _kind().add(TABLE, documents)


def messages(
    wanted: Sequence[Sequence[Lookup]],
    *,
    below: int,
    limit: int,
    after: int | None = None,
    before: int | None = None,
) -> list[tuple[int, str]]:
    """`(document, session)` of the messages with the highest numbers below one whose documents have a word of
    each group in `wanted`, the highest first; `after` and `before` bound their times. Raises Fault.

    Nobody can ask for documents without a word: one that stands for nothing any more may have its number.
    """
    times = (("time_created >= %s", after), ("time_created < %s", before))
    bounds = [(bound, value) for bound, value in times if value is not None]
    with _faults():
        found = _kind().messages(TABLE, wanted, bounds, below, limit)
    return [(int(number), str(session)) for number, session in found]


def _kind() -> ModuleType:
    return tsvector if connection.vendor == "postgresql" else fts5


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        if not _kind().is_fault(error):
            raise
        raise Fault(str(error)) from error

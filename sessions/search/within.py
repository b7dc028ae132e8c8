"""Where a text stands in one conversation, as it is written: for the find of its page, which shows only the
newest messages, and of a call no output that nobody opened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from sessions.core.index.texts import texts
from sessions.core.models import Message, Part

LONGEST = 200
"""Characters that are looked for."""
AT_ONCE = 400
"""Messages that are read at once."""
_SHOWN = ("text", "reasoning", "tool", "subtask", "file")
_AS_STORED = re.compile(r"[ -!#-\[\]-~]+")
"""What JSON writes as it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a message, and how often the text stands in it."""

    message_id: str
    part_id: str
    count: int


@dataclass(frozen=True, slots=True)
class Row:
    """A part with what is needed of its message."""

    id: str
    message_id: str
    role: str
    type: str
    data: object


def message_ids(session_id: str) -> list[str]:
    """Of the whole conversation, in its order; runs on the ORM's thread."""
    return list(Message.objects.filter(session_id=session_id).order_by("id").values_list("id", flat=True))


def rows(message_ids: Sequence[str], text: str) -> list[Row]:
    """The parts of these messages that may have the text, in their order; runs on the ORM's thread."""
    found = Part.objects.filter(message_id__in=message_ids, type__in=_SHOWN).order_by("message_id", "id")
    word = max(text.split(), key=len, default="")
    if _AS_STORED.fullmatch(word):
        found = found.annotate(stored=Cast("data", TextField())).filter(stored__icontains=word)
    read = cast("QuerySet[Part, tuple[str, str, str, str, object]]", found.values_list(*_COLUMNS))
    return [Row(*columns) for columns in read]


_COLUMNS = ("id", "message_id", "message__role", "type", "data")


def places(found: Iterable[Row], text: str) -> list[Place]:
    """Where the text is in these parts, in capitals or not, and with any white space for any other."""
    pattern = re.compile(r"\s+".join(map(re.escape, text.split())), re.IGNORECASE)
    counted = ((row, _count(row, pattern)) for row in found)
    return [Place(row.message_id, row.id, count) for row, count in counted if count]


def _count(row: Row, pattern: re.Pattern[str]) -> int:
    return sum(len(pattern.findall(one.text)) for one in texts(row.role, {}, [row]))

"""What the index has of a message: words of its texts, and words of its facets behind a name and a colon,
which no word of a text has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from .texts import Facet, PartRow, facets, texts
from .words import Lookup, words

ALL = Lookup("all:")
"""What every document has."""
_PLAIN = re.compile(r"\W")


class MessageRow(Protocol):
    """What is needed of a row of `Message`."""

    @property
    def session_id(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def time_created(self) -> int: ...
    @property
    def data(self) -> Any: ...


def document(message: MessageRow, project_id: str, parts: Sequence[PartRow]) -> set[str]:
    """The words under which a message is found."""
    found = {
        ALL.word,
        project(project_id).word,
        session(message.session_id).word,
        *_times(message.time_created),
    }
    for text in texts(message.role, message.data, parts):
        found |= words(text.text)
    for name, values in facets(message.data, parts).items():
        found.update(f"{name}:{word}" for value in values for word in words(value))
    return found


def of_facet(name: Facet, lookup: Lookup) -> Lookup:
    """The same word of a facet."""
    return Lookup(f"{name}:{lookup.word}", lookup.begins)


def project(project_id: str) -> Lookup:
    return Lookup(f"project:{_PLAIN.sub('_', project_id)}")


def session(session_id: str) -> Lookup:
    return Lookup(f"session:{_PLAIN.sub('_', session_id)}")


def when(after: int | None, before: int | None) -> list[Lookup]:
    """Of which a message has one that is of a time in between (milliseconds; None for no bound): years, and
    months, in UTC, at both ends."""
    first = _FIRST * 12 if after is None else _month(after)
    last = _LAST * 12 + 11 if before is None else _month(before)
    found: list[Lookup] = []
    while first <= last:
        if first % 12 == 0 and first + 11 <= last:
            found.append(Lookup(f"year:{first // 12}"))
            first += 12
        else:
            found.append(Lookup(_month_word(first)))
            first += 1
    return found


_FIRST, _LAST = 2020, 2099
"""Years. What a wrong clock, or a file that somebody wrote, says is before or after counts as of these."""


def _times(moment: int) -> set[str]:
    month = _month(moment)
    return {f"year:{month // 12}", _month_word(month)}


def _month(moment: int) -> int:
    """Counted from the beginning of our era."""
    try:
        date = datetime.fromtimestamp(moment / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return _LAST * 12 if moment > 0 else _FIRST * 12
    return min(max(date.year * 12 + date.month - 1, _FIRST * 12), _LAST * 12 + 11)


def _month_word(month: int) -> str:
    return f"month:{month // 12}{month % 12 + 1:02}"

"""What answers took and cost, summed up by day and by whom and what they were for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from sessions.core.models import Admission, Message, Session

AT_ONCE = 50
"""Sessions that are read at once: who waits for the database meanwhile waits for no more."""


@dataclass(slots=True)
class Sums:
    """Tokens, US dollars, milliseconds. `calls` counts answers of models; `unpriced` those of them that took
    tokens and cost nothing."""

    calls: int = 0
    input: int = 0
    output: int = 0
    reasoning: int = 0
    read: int = 0
    written: int = 0
    cost: float = 0.0
    time: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.reasoning + self.read + self.written

    def add(self, other: Sums) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(frozen=True, slots=True)
class Key:
    """`session` is the id of the conversation, whose subagents count to it; `person` is empty where nobody
    is known."""

    day: date
    project: str
    session: str
    agent: str
    model: str
    person: str


@dataclass(slots=True)
class Spending:
    """`titles` are of the conversations in it."""

    sums: dict[Key, Sums] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)

    def by(self, part: Callable[[Key], Any]) -> dict[Any, Sums]:
        found: dict[Any, Sums] = {}
        for key, sums in self.sums.items():
            found.setdefault(part(key), Sums()).add(sums)
        return found

    @property
    def total(self) -> Sums:
        return self.by(lambda _: None).get(None, Sums())


def begin_of(days: int, today: date) -> int:
    """The first millisecond of the earliest of so many days, the last of which is `today`, in local time."""
    first = datetime.combine(today - timedelta(days=days - 1), datetime.min.time())
    return int(first.timestamp() * 1000)


def pieces(since: int, projects: Iterable[str]) -> list[Sequence[str]]:
    """The sessions with answers since then, as `add` takes them. Deleted ones count until they are removed
    for good."""
    rows = Session.objects.filter(time_updated__gte=since, project_id__in=list(projects))
    found = list(rows.values_list("id", flat=True))
    return [found[at : at + AT_ONCE] for at in range(0, len(found), AT_ONCE)]


def add(spending: Spending, sessions: Sequence[str], since: int) -> None:
    """What the answers of these sessions since then took."""
    roots = _roots(sessions)
    spending.titles.update((root.id, root.title) for root in roots.values())
    actors = dict(
        Admission.objects.filter(session_id__in=sessions).exclude(actor="").values_list("id", "actor")
    )
    answers = Message.objects.filter(session_id__in=sessions, role="assistant", time_created__gte=since)
    for session_id, moment, data in answers.values_list("session_id", "time_created", "data").iterator():
        root, sums = roots[session_id], _sums(data)
        if not sums.tokens and not sums.cost:
            continue
        key = Key(
            datetime.fromtimestamp(moment / 1000).date(),
            root.project_id,
            root.id,
            str(data.get("agent") or ""),
            f"{data.get('providerID', '')}/{data.get('modelID', '')}",
            actors.get(str(data.get("parentID")), ""),
        )
        spending.sums.setdefault(key, Sums()).add(sums)


def _roots(sessions: Sequence[str]) -> Mapping[str, Session]:
    """Of each the conversation that it is part of."""
    columns = ("id", "parent_id", "project_id", "title")
    known: dict[str, Session] = {}
    wanted = set(sessions)
    while wanted:
        rows = Session.objects.only(*columns).in_bulk(list(wanted))
        known |= rows
        wanted = {row.parent_id for row in rows.values() if row.parent_id} - known.keys()
    return {one: _last(_upwards(known, one)) for one in sessions}


def _upwards(known: Mapping[str, Session], session_id: str) -> Iterator[Session]:
    at: str | None = session_id
    while at is not None and at in known:
        yield known[at]
        at = known[at].parent_id


def _last(rows: Iterator[Session]) -> Session:
    for row in rows:
        found = row
    return found


def _sums(data: Mapping[str, Any]) -> Sums:
    told = data.get("tokens") or {}
    cache, time = told.get("cache") or {}, data.get("time") or {}
    ended = time.get("completed")
    sums = Sums(
        calls=1,
        input=int(told.get("input") or 0),
        output=int(told.get("output") or 0),
        reasoning=int(told.get("reasoning") or 0),
        read=int(cache.get("read") or 0),
        written=int(cache.get("write") or 0),
        cost=float(data.get("cost") or 0),
        time=max(0, int(ended - (time.get("created") or 0))) if ended else 0,
    )
    sums.unpriced = int(sums.tokens > 0 and not sums.cost)
    return sums

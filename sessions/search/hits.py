"""What a query finds: messages, the newest first, each verified in its rows, grouped by session.

The index proposes messages by their words; whether a phrase stands there in its order, and whether the
session is there at all, only the rows tell. Call it on the ORM's thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from django.db.models import QuerySet
from django.utils.translation import gettext

from sessions.core.index import fts
from sessions.core.index.document import ALL, of_facet, project, session, when
from sessions.core.index.texts import Facet, Kind, Text, facets, texts
from sessions.core.index.words import Lookup, Term
from sessions.core.models import Message, Part, Project, Session
from sessions.core.store import index
from sessions.search.query import Query
from sessions.search.snippets import Snippet, snippet, whole

HITS = 30
"""Messages on a page."""
OF_A_SESSION = 4
"""Messages of one session on a page."""
TITLES = 5
"""Sessions found by their titles."""
NEWEST = 2**62
"""A cursor before which everything is."""
_PROPOSED = 2000
"""Messages that the index proposes for a page, at most."""
_READ = 240
"""Of them, those whose texts are read; the next page goes on from there."""
_CHUNK = 20
_DID = 5000
"""Messages that are looked through for what a session did."""
_NARROW = 200
"""Sessions that the index is asked for by name."""
_OF_SESSIONS: tuple[Facet, ...] = ("file", "ran")
"""Beside words these ask what the session did, and else what the message did."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message; `part_id` is where the text of the snippet stands in it, empty for the message itself.
    `time` is in milliseconds."""

    message_id: str
    part_id: str
    kind: Kind
    role: str
    time: int
    snippet: Snippet

    @property
    def is_code(self) -> bool:
        return self.kind in ("input", "output", "error", "file")


@dataclass(slots=True)
class Group:
    """Of one session, the newest first. `more`: it has others."""

    session: Session
    title: Snippet
    hits: list[Hit] = field(default_factory=list)
    more: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """`before` is the cursor of the next page, 0 when there is none. `problem` says to a person why nothing
    can be found."""

    groups: Sequence[Group] = ()
    before: int = 0
    problem: str = ""


def find(
    query: Query,
    *,
    here: str = "",
    before: int = NEWEST,
    limit: int = HITS,
    of_session: int = OF_A_SESSION,
) -> Found:
    """What a query finds, the newest messages first: `limit` of them, and so many `of_session`, unless one
    session is asked for. `here` is the project that `project:this` means and `before` a cursor. A damaged
    index is put aside, to be made anew in the background."""
    index.take_in()
    if query.is_empty:
        return Found()
    if not index.is_possible():
        return Found(problem=gettext("The SQLite of this server has no full text search (FTS5)."))
    try:
        return _Search(query, here, limit if query.session else of_session).page(before, limit)
    except fts.Fault:
        index.start_over()
        return Found(problem=gettext("The index was damaged. It is made anew, which takes a while."))


class _Search:
    def __init__(self, query: Query, here: str, most: int) -> None:
        self._query = query
        self._most = most
        self._projects = _projects(query.project, here) if query.project else None
        self._done = [one for one in query.facets if query.terms and one[0] in _OF_SESSIONS]
        self._facets = [one for one in query.facets if one not in self._done]
        self._sessions: dict[str, Session | None] = {}
        self._groups: dict[str, Group] = {}

    def page(self, before: int, limit: int) -> Found:
        if self._projects == []:
            return Found(
                problem=gettext("No project is called %(project)s.") % {"project": repr(self._query.project)}
            )
        if before == NEWEST:
            self._take_titles()
        proposed = self._proposed(before)
        found = read = 0
        # Asked anew for each of them, as groups fill up meanwhile.
        open_ = (number for number, session_id in proposed if not self._is_full(session_id))
        while chunk := list(islice(open_, _CHUNK)):
            for message, parts in self._rows(chunk):
                found += self._take(message, parts)
                if found == limit:
                    return Found(list(self._groups.values()), message.document or 0)
            read += len(chunk)
            if read >= _READ:
                return Found(list(self._groups.values()), chunk[-1])
        return Found(list(self._groups.values()), proposed[-1][0] if len(proposed) == _PROPOSED else 0)

    def _is_full(self, session_id: str) -> bool:
        group = self._groups.get(session_id)
        if group is None or len(group.hits) < self._most:
            return False
        group.more = True
        return True

    def _take(self, message: Message, parts: Sequence[Part]) -> bool:
        """Whether it is a hit that is shown."""
        if self._is_full(message.session_id):
            return False
        hit = self._hit(message, parts)
        if hit is not None:
            self._group(message.session_id).hits.append(hit)
        return hit is not None

    def _group(self, session_id: str) -> Group:
        if session_id not in self._groups:
            row = self._sessions[session_id]
            assert row is not None
            self._groups[session_id] = Group(row, whole(row.title, self._query.terms))
        return self._groups[session_id]

    # What the index proposes

    def _proposed(self, below: int) -> list[tuple[int, str]]:
        """As `fts.messages`."""
        asked = self._query
        wanted = [[lookup] for term in asked.terms for lookup in term.lookups]
        wanted += [[of_facet(name, lookup)] for name, term in self._facets for lookup in term.lookups]
        wanted += self._places
        if asked.session:
            wanted.append([session(asked.session)])
        if self._done:
            sessions = self._doing()
            if not sessions:
                return []
            if len(sessions) <= _NARROW:
                wanted.append([session(id) for id in sorted(sessions)])
        if asked.after is not None or asked.before is not None:
            times = when(asked.after, asked.before)
            if not times:
                return []
            wanted.append(times)
        return fts.messages(
            wanted or [[ALL]], below=below, limit=_PROPOSED, after=asked.after, before=asked.before
        )

    @property
    def _places(self) -> list[list[Lookup]]:
        return [] if self._projects is None else [[project(id) for id in self._projects]]

    def _doing(self) -> set[str]:
        """The sessions that did what is asked, as far as words tell."""
        return set.intersection(*({id for _, id in self._doers(*one)} for one in self._done))

    def _doers(self, name: Facet, term: Term) -> list[tuple[int, str]]:
        wanted = [[of_facet(name, lookup)] for lookup in term.lookups] + self._places
        return fts.messages(wanted or [[ALL]], below=NEWEST, limit=_DID)

    # What the rows say

    def _rows(self, numbers: Sequence[int]) -> Iterator[tuple[Message, list[Part]]]:
        """Of these documents the messages that may be shown, with their parts, the newest first."""
        rows = _messages(Message.objects.filter(document__in=numbers).order_by("-document"))
        self._read_sessions({row.session_id for row in rows})
        shown = [row for row in rows if self._is_shown(row)]
        parts = _parts(shown)
        for row in shown:
            yield row, parts.get(row.id, [])

    def _read_sessions(self, ids: Collection[str]) -> None:
        unknown = [id for id in ids if id not in self._sessions]
        rows = Session.objects.select_related("project").filter(time_deleted=None).in_bulk(unknown)
        for id in unknown:
            row = rows.get(id)
            self._sessions[id] = row if row is not None and self._is_asked_for(row) else None

    def _is_asked_for(self, row: Session) -> bool:
        if self._projects is not None and row.project_id not in self._projects:
            return False
        if self._query.session and row.id != self._query.session:
            return False
        return all(self._has_done(row.id, name, term) for name, term in self._done)

    def _has_done(self, session_id: str, name: Facet, term: Term) -> bool:
        numbers = [number for number, id in self._doers(name, term) if id == session_id]
        rows = _messages(Message.objects.filter(document__in=numbers))
        parts = _parts(rows)
        return any(term.found(facets(row.data, parts.get(row.id, []))[name]) for row in rows)

    def _is_shown(self, message: Message) -> bool:
        """Whether it is not undone, and of a session that is asked for."""
        row = self._sessions[message.session_id]
        return row is not None and not (row.revert and message.id >= str(row.revert.get("messageID", "")))

    def _hit(self, message: Message, parts: Sequence[Part]) -> Hit | None:
        if self._facets:
            has = facets(message.data, parts)
            if not all(term.found(has[name]) for name, term in self._facets):
                return None
        said = list(texts(message.role, message.data, parts))
        if not all(term.found(text.text for text in said) for term in self._query.terms):
            return None
        best = max(said, key=self._worth, default=Text("answer", "", ""))
        shown = snippet(best.text, self._seen(best.kind))
        return Hit(message.id, best.part_id, best.kind, message.role, message.time_created, shown)

    def _worth(self, text: Text) -> int:
        """How much of why a message was found a text shows; of equal ones the first is shown."""
        if not self._query.terms and text.kind == "error" and any(name == "has" for name, _ in self._facets):
            return len(self._facets)
        return sum(term.found([text.text]) for term in self._seen(text.kind))

    def _seen(self, kind: Kind) -> Sequence[Term]:
        """What is marked in a text: the words, or where there are none what filters ask for."""
        if self._query.terms:
            return self._query.terms
        return [term for name, term in self._facets if _SHOWN.get(name) == kind]

    # Sessions by their titles

    def _take_titles(self) -> None:
        """Those whose title has all the words come first."""
        if not self._query.terms or self._facets or self._query.session:
            return
        rows = Session.objects.filter(time_deleted=None).order_by("-used")
        if self._projects is not None:
            rows = rows.filter(project_id__in=self._projects)
        if self._query.after is not None:
            rows = rows.filter(time_updated__gte=self._query.after)
        if self._query.before is not None:
            rows = rows.filter(time_created__lt=self._query.before)
        titles = rows.values_list("id", "title").iterator()
        found = (id for id, title in titles if all(term.found([title]) for term in self._query.terms))
        first = list(islice(found, TITLES))
        self._read_sessions(first)
        for id in first:
            if self._sessions[id] is not None:
                self._group(id)


_SHOWN: dict[Facet, Kind] = {"file": "file", "ran": "input"}
"""The texts in which what a filter asks for stands."""


def _projects(name: str, here: str) -> list[str]:
    """The ids of the projects that a filter names: `this`, or by a part of their name."""
    if name == "this" and here:
        return [here]
    rows = Project.objects.values_list("id", "name")
    return [id for id, title in rows if name.lower() in title.lower() or name == id]


_MESSAGE = ("id", "session_id", "role", "time_created", "data", "document")
_PART = ("id", "message_id", "type", "data")
"""As tuples: objects of the rows would be half of the work."""


def _messages(rows: QuerySet[Message]) -> list[Message]:
    return list(cast("QuerySet[Message]", rows.values_list(*_MESSAGE, named=True)))


def _parts(messages: Sequence[Message]) -> dict[str, list[Part]]:
    """By message, in their order."""
    found: dict[str, list[Part]] = {}
    rows = Part.objects.filter(message_id__in=[row.id for row in messages]).order_by("message_id", "id")
    for part in cast("QuerySet[Part]", rows.values_list(*_PART, named=True)):
        found.setdefault(part.message_id, []).append(part)
    return found

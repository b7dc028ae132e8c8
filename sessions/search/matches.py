"""What is found as programs are told of it: one flat list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from sessions.core.store import index
from sessions.core.wire.search import IndexProgress, MessageMatch, MessageMatches, Piece
from sessions.search.hits import NEWEST, Found, Group, find
from sessions.search.query import Query
from sessions.search.snippets import Snippet


def matches(query: Query, *, here: str = "", before: int | None = None, limit: int) -> MessageMatches:
    """As `hits.find`, a cursor of None being that of the newest. Call it on the ORM's thread."""
    found = find(query, here=here, before=before or NEWEST, limit=limit, of_session=limit)
    progress = index.progress()
    return MessageMatches(
        matches=list(_matches(found)),
        before=found.before or None,
        problems=[*query.problems, *([found.problem] if found.problem else [])],
        progress=IndexProgress(**asdict(progress)) if progress else None,
    )


def _matches(found: Found) -> Iterator[MessageMatch]:
    for group in found.groups:
        if any(piece.marked for piece in group.title) or not group.hits:
            yield _match(group, "title", group.session.time_updated, group.title)
        for hit in group.hits:
            ids = {"message_id": hit.message_id, "part_id": hit.part_id or None}
            yield _match(group, hit.kind, hit.time, hit.snippet, **ids)


def _match(group: Group, kind: str, time: int, snippet: Snippet, **ids: str | None) -> MessageMatch:
    session = group.session
    return MessageMatch.model_validate(
        {
            "session_id": session.id,
            "project_id": session.project_id,
            "title": session.title,
            "kind": kind,
            "time": time,
            "snippet": [Piece(text=piece.text, marked=piece.marked) for piece in snippet],
            **ids,
        }
    )

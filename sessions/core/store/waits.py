"""When a session waited for a person, by the requests that were answered or given up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sessions.core.models import PermissionRequest, QuestionRequest
from sessions.core.store import family

Spans = Sequence[tuple[int, int]]


def of(session_id: str) -> Spans:
    """The waits of a session and of those below it, without overlaps, in order; times in milliseconds."""
    ids = [session_id, *(row.id for row in family.below(session_id))]
    found: list[tuple[int, int]] = []
    for model in (PermissionRequest, QuestionRequest):
        rows = model._default_manager.filter(session_id__in=ids, time_answered__isnull=False)
        spans = rows.values_list("time_created", "time_answered")
        found += [(since, until) for since, until in spans if until is not None]
    return merged(sorted(found))


def within(spans: Spans, start: int, end: int) -> int:
    """Milliseconds of waiting between two moments."""
    return sum(max(0, min(end, until) - max(start, since)) for since, until in spans)


def merged(spans: Iterable[tuple[int, int]]) -> Spans:
    """Spans in the order of their beginnings, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for since, until in spans:
        if found and since <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], until))
        else:
            found.append((since, until))
    return found

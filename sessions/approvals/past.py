"""Past calls that a rule would have matched, for the form in which its pattern is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.models import PermissionRequest
from sessions.rendering.text import visible
from sessions.store import permissions
from sessions.store.permissions import Match
from sessions.wire.patterns import matches

from . import words

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Call:
    """`partly` says that the rule alone would not have allowed it."""

    text: str
    partly: bool
    verdict: str
    time: int


@dataclass(frozen=True, slots=True)
class Past:
    """`fits` says whether the pattern matches what is asked for now; without that it can be no rule."""

    pattern: str
    fits: bool
    total: int
    calls: Sequence[Call]

    @property
    def more(self) -> int:
        return self.total - len(self.calls)


def past(row: PermissionRequest, pattern: str) -> Past:
    """Runs on the ORM's thread."""
    found = permissions.matched(row.session.project_id, row.permission, pattern)
    fits = any(matches(pattern, asked) for asked in row.patterns)
    return Past(pattern, fits, found.total, [_call(match) for match in found[:SHOWN]])


def _call(match: Match) -> Call:
    row = match.decision
    text = ", ".join(visible(pattern) for pattern in match.matched)
    return Call(text[:300], not match.whole, words.verdict(row).lower(), row.time_created)

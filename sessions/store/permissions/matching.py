"""Which past calls a rule would have matched, so that nobody adds one blindly (peers.md, ask 19)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sessions.models import Decision
from sessions.wire.patterns import matches

MOST_SHOWN: Final = 50
MOST_READ: Final = 2000
"""Decisions that are looked through, the newest: this runs on the ORM's thread."""


@dataclass(frozen=True, slots=True)
class Match:
    """A past call: what was asked for, which patterns of it the rule matches, and what was decided."""

    decision: Decision
    matched: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether the rule alone would have allowed it."""
        return len(self.matched) == len(self.decision.patterns)


class Matched(list[Match]):
    """The newest first; `total` also counts those left out here."""

    total: int = 0


def matched(project_id: str, permission: str, pattern: str) -> Matched:
    """Past calls of this permission that a person, a rule or a plugin decided on, as far as they match."""
    rows = Decision.objects.filter(project_id=project_id, permission=permission)
    rows = rows.filter(verdict__in=("allow", "deny")).order_by("-id")[:MOST_READ]
    found = Matched()
    for row in rows:
        hit = tuple(text for text in row.patterns if matches(pattern, text))
        if hit:
            found.total += 1
            if len(found) < MOST_SHOWN:
                found.append(Match(row, hit))
    return found

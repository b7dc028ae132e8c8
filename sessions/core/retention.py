"""How long things are kept, in days, as the environment says; 0 keeps them for ever.

The audit of permissions is kept for ever: its table only grows (docs/security.md, rule 16).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sessions.core import variables
from sessions.core.ids import now

_DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Retention:
    """`events` is a number, the others are days."""

    events: int
    events_days: float
    outputs_days: float
    deleted_days: float
    archived_days: float


def configured(environ: Mapping[str, str]) -> Retention:
    """Raises ValueError, in words, for what is no number."""
    return Retention(
        int(variables.KEEP_EVENTS.number(environ)),
        variables.KEEP_EVENTS_DAYS.number(environ),
        variables.KEEP_OUTPUTS_DAYS.number(environ),
        variables.KEEP_DELETED_DAYS.number(environ),
        variables.KEEP_ARCHIVED_DAYS.number(environ),
    )


def before(days: float) -> int:
    """The moment (ms) before which something is thrown away; 0, before all, where it is kept for ever."""
    return now() - int(days * _DAY_MS) if days else 0

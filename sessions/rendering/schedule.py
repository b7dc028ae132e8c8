"""How the runs of schedules stand, in words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.models import Occurrence

STATES = {
    "waits": gettext_noop("Waits"),
    "runs": gettext_noop("Runs"),
    "asks": gettext_noop("Asks you"),
    "done": gettext_noop("Done"),
    "failed": gettext_noop("Failed"),
    "blocked": gettext_noop("Blocked"),
    "spent": gettext_noop("Budget spent"),
    "stopped": gettext_noop("Stopped"),
    "skipped": gettext_noop("Left out"),
}
CAUSES = {
    "time": gettext_noop("Its time"),
    "missed": gettext_noop("Missed"),
    "files": gettext_noop("Files changed"),
    "commit": gettext_noop("A new commit"),
    "hook": gettext_noop("Its address was called"),
    "hand": gettext_noop("By hand"),
}
ICONS = {"done": "check", "stopped": "stop"}


@dataclass(frozen=True, slots=True)
class Run:
    """An occurrence in words; `icon` says how it ended."""

    row: Occurrence
    state: str
    label: str
    cause: str
    reason: str
    icon: str


def run_row(row: Occurrence, asking: Collection[str] = ()) -> Run:
    """`asking` are the sessions in which a person is asked something."""
    state = "asks" if row.state == Occurrence.State.RUNS and row.session_id in asking else row.state
    return Run(
        row,
        state,
        gettext(STATES[state]),
        gettext(CAUSES[row.cause]),
        gettext(row.reason) if row.reason else "",
        ICONS.get(state, "alert"),
    )

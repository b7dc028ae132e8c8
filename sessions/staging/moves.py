"""What a verdict does with one staged file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.review.outcomes import as_outcome
from sessions.store import kept
from sessions.undo.plan import FilePlan

Snapshot = Mapping[str, Any]
"""A staged row as `kept.snapshot` has it."""


@dataclass(frozen=True, slots=True)
class Move:
    """One file: what is written to the disk (`plan`, only where `writes`), and its staged row before and
    after. `hunks` and `noted` are what the verdict is on, by key and as it is told."""

    plan: FilePlan
    before: Snapshot
    after: Snapshot
    hunks: Sequence[str] = ()
    noted: Sequence[Mapping[str, Any]] = ()
    writes: bool = True

    @property
    def applies(self) -> bool:
        return self.plan.outcome in kept.APPLIED

    def entry(self) -> dict[str, Any]:
        """As the verdict's row keeps it."""
        (told,) = as_outcome([self.plan])
        plan = {
            "before_now": self.plan.before_now,
            "mode_now": self.plan.mode_now,
            "result": self.plan.result,
            "mode": self.plan.mode,
        }
        hunks = dict.fromkeys(self.hunks, self.plan.outcome)
        return {
            **told,
            "hunks": hunks,
            "plan": plan,
            "before": dict(self.before),
            "after": dict(self.after),
            "change": None,
        }

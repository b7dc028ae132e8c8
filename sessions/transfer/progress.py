"""How far an import is, in a form that can be kept in a file and shown by another process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Literal, Self

from sessions.ids import now
from sessions.store.importing import Outcome

from .reading.records import Problem

State = Literal["running", "done", "cancelled", "failed"]
LEFT = ("newer", "diverged", "deleted", "running")
"""Outcomes that are named, and no fault of the source."""
KEPT = 200
"""Problems that are kept; all are counted, and told as they come."""


@dataclass(slots=True)
class Progress:
    """`outcomes` counts sessions; `error` is why it failed. Times are in milliseconds."""

    total: int = 0
    done: int = 0
    messages: int = 0
    current: str = ""
    state: State = "running"
    error: str = ""
    outcomes: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    dry: bool = False
    started: int = field(default_factory=now)

    def count(self, outcome: Outcome | Literal["unreadable"]) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def name(self, problem: Problem) -> None:
        self.problem_count += 1
        if len(self.problems) < KEPT:
            self.problems.append(problem)

    @property
    def lost(self) -> int:
        """Problems with records of the source; the others tell of sessions that were left as they are."""
        return self.problem_count - sum(self.outcomes.get(key, 0) for key in LEFT)

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Self:
        """Raises ValueError or TypeError for what is no progress."""
        data = json.loads(text)
        return cls(**{**data, "problems": [Problem(**problem) for problem in data["problems"]]})


_WORDS = {
    "imported": "imported",
    "updated": "brought up to date",
    "same": "here already",
    "newer": "continued here and left as they are",
    "diverged": "continued here and in OpenCode, left as they are",
    "deleted": "deleted here and left out",
    "running": "at work here and left as they are",
    "unreadable": "not readable",
}


def in_words(progress: Progress) -> list[str]:
    """`12 imported`, `3 here already`, … in a fixed order."""
    outcomes = progress.outcomes
    return [f"{outcomes[key]:,} {words}" for key, words in _WORDS.items() if outcomes.get(key)]

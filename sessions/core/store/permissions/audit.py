"""The audit of permissions: who or what decided, about which call, when.

Rows are only ever added. What the configuration allows without a question is policy and not a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from sessions.core.ids import now
from sessions.core.models import Decision, PermissionRequest, SavedRule, Session
from sessions.core.wire.patterns import matches

Verdict = Literal["allow", "deny", "cancel"]
By = Literal[
    "person", "rule", "plugin", "configuration", "review", "preset", "reviewer", "stop", "call", "app"
]


@dataclass(frozen=True, slots=True)
class Call:
    """What a decision is about; `request_id` and `actor` are empty when nobody was asked."""

    session: Session
    call_id: str
    permission: str
    patterns: Sequence[str]
    arguments_hash: str
    request_id: str = ""
    actor: str = ""

    @classmethod
    def of(cls, row: PermissionRequest) -> Call:
        return cls(
            row.session, row.call_id, row.permission, row.patterns, row.arguments_hash, row.id, row.actor
        )


def note(call: Call, verdict: Verdict, by: By, *, rule: str = "", scope: str = "", words: str = "") -> None:
    """Add a decision; call it in the transaction of what it decides."""
    Decision.objects.create(
        project_id=call.session.project_id,
        session_id=call.session.id,
        request_id=call.request_id,
        call_id=call.call_id,
        permission=call.permission,
        patterns=list(call.patterns),
        arguments_hash=call.arguments_hash,
        verdict=verdict,
        by=by,
        actor=call.actor,
        rule=rule,
        scope=scope,
        words=words,
        time_created=now(),
    )


def note_rule(rule: SavedRule, verdict: Literal["revoke", "restore"], actor: str) -> None:
    """Note that a person took a saved rule back, or undid that."""
    Decision.objects.create(
        project_id=rule.project_id,
        session_id=rule.session_id or "",
        request_id=rule.origin,
        permission=rule.permission,
        patterns=[rule.pattern],
        verdict=verdict,
        by="person",
        actor=actor,
        rule=in_words([rule]),
        scope=rule.scope,
        time_created=now(),
    )


def note_preset(session: Session, preset: str, actor: str) -> None:
    """Note that a person chose how much is asked in a session."""
    Decision.objects.create(
        project_id=session.project_id,
        session_id=session.id,
        permission="preset",
        patterns=[preset],
        verdict="allow",
        by="person",
        actor=actor,
        scope="session",
        time_created=now(),
    )


class Worded(Protocol):
    """What a rule says."""

    @property
    def permission(self) -> str: ...

    @property
    def pattern(self) -> str: ...


def in_words(rules: Iterable[Worded]) -> str:
    """Rules as text: `bash: git *, bash: npm *`."""
    return ", ".join(f"{rule.permission}: {rule.pattern}" for rule in rules)


def decisions(project_id: str, *, before: int | None = None, limit: int = 100) -> list[Decision]:
    """The newest first; `before` is the id of the last one that is known already."""
    rows = Decision.objects.filter(project_id=project_id)
    if before is not None:
        rows = rows.filter(id__lt=before)
    return list(rows.order_by("-id")[:limit])


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

"""The scopes that a review can be of, as the panel's control names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.changes.review.verdicts import Scope, staged
from sessions.core.models import Session
from sessions.core.store import ledger, messages, turns
from sessions.core.text import visible
from sessions.rendering.tools import card

_LONGEST = 40

ELSEWHERE = "Choose Session above to see all that it changed."
EMPTY = {
    "call": ("This call changed no files", ELSEWHERE),
    "turn": ("This turn changed no files", ELSEWHERE),
    "session": (
        "No files changed yet",
        "What the agent changes appears here, to be kept or undone.",
    ),
    "project": ("No session of this project has changed files yet", "Ask the agent for a change to begin."),
    "git": ("The working tree is as it was committed", "Choose Session above to see what the agent changed."),
    "staged": ("Nothing waits in review mode", "What the agent edits next waits here until you keep it."),
}
"""By kind of scope: what is so, and what to do next."""
LAST_PROMPT_EMPTY = ("The last prompt changed no files", ELSEWHERE)
WAITING = ("No file is changed yet", "The edits wait in review mode.")


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of the control."""

    scope: Scope
    label: str
    chosen: bool


def options(session: Session, chosen: Scope) -> list[Option]:
    """Those that are always there, and the one turn or call chosen elsewhere. On the ORM's thread."""
    known = [
        (Scope("turn"), "Last prompt"),
        (Scope("session"), "Session"),
        (Scope("project"), "Project"),
        (Scope("git"), "Git: uncommitted"),
    ]
    if chosen.kind == "staged" or staged(session):
        known.append((Scope("staged"), "Staged"))
    if chosen not in (scope for scope, _ in known):
        known.insert(0, (chosen, _named(session, chosen)))
    return [Option(scope, label, scope == chosen) for scope, label in known]


def empty(scope: Scope, known: Sequence[Option]) -> tuple[str, str]:
    """What is said where a scope has no files; `known` are the options beside it."""
    if scope.kind in ("turn", "session") and any(option.scope.kind == "staged" for option in known):
        return WAITING
    return LAST_PROMPT_EMPTY if scope == Scope("turn") else EMPTY[scope.kind]


def _named(session: Session, scope: Scope) -> str:
    if scope.kind == "call":
        part = messages.part(session.id, scope.part)
        if part is None or part["type"] != "tool":
            return "One call"
        shown = card(part, session.directory)
        return _short(f"{shown.label} {shown.subtitle}")
    point = ledger.locate(session.id, scope.message)
    text = turns.from_prompt(session.id, point.message_id)[1] if point else ""
    return f"Turn: {_short(text)}" if text else "One turn"


def _short(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"

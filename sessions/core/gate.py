"""Whether something may begin in a project here; who joins several machines to a team knows
(docs/decisions/0053)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gate:
    """In words for people, empty where nothing is in the way: why neither prompts nor changes are taken, and
    why turns do not begin, of which the prompts wait."""

    closed: str = ""
    waiting: str = ""


OPEN = Gate()
_ask: Callable[[str], Gate] | None = None


def register(ask: Callable[[str], Gate]) -> None:
    """`ask` is given the id of a project, on the ORM's thread."""
    global _ask
    _ask = ask


def is_registered() -> bool:
    return _ask is not None


def gate(project_id: str) -> Gate:
    """Runs on the ORM's thread."""
    return OPEN if _ask is None else _ask(project_id)

"""What plugins add at providers, by folder: ways to sign in, and how a request is made of what is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.config.configuration import configured
from agents.llm.accounts.flows.base import Method
from agents.llm.types import Account


@dataclass(frozen=True, slots=True, eq=False)
class Plugged:
    """Of one provider. `account` makes its requests from an entry of any type; None: the entry does."""

    methods: Sequence[Method]
    account: Account | None


Found = Mapping[str, Plugged]
"""By provider."""

_NONE: Found = {}
_added: dict[Path, Found] = {}


def add(directory: Path, found: Found) -> None:
    """All that the plugins of a folder add, in the place of what was known."""
    before = _added.pop(directory, _NONE)
    if found:
        _added[directory] = found
    if before or found:
        configured(directory)


def latest(directory: Path) -> Found:
    """What is known of a folder now; the same object while it stays."""
    return _added.get(directory, _NONE)

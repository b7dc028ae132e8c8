"""The Context Snapshot: what was last admitted of each source, as JSON hidden from the model (seed 002)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION = 1


@dataclass(frozen=True, slots=True)
class Admitted:
    """The encoded value of a source, and the text that tells of its going (None: it cannot be told)."""

    value: Any
    removal: str | None = None


Snapshot = Mapping[str, Admitted]
"""By the key of the source."""


def to_json(snapshot: Snapshot) -> dict[str, Any]:
    sources = {key: {"value": one.value, "removal": one.removal} for key, one in snapshot.items()}
    return {"version": VERSION, "sources": sources}


def from_json(stored: Any) -> Snapshot | None:
    """None for what another version wrote, or something else did."""
    try:
        if stored["version"] != VERSION:
            return None
        return {key: Admitted(one["value"], one["removal"]) for key, one in stored["sources"].items()}
    except (AttributeError, KeyError, TypeError):
        return None

"""How far a running call is, as its tool says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .text import visible

MOST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Progress:
    """`share` is per cent, None where it is not known how much there is; `words` say what is done."""

    share: int | None
    words: str


def progress_of(metadata: Mapping[str, Any]) -> Progress | None:
    """Of the metadata `progress`: `done`, and perhaps `total` and `message`."""
    said = metadata.get("progress")
    if not isinstance(said, dict):
        return None
    done, total = _number(said.get("done")), _number(said.get("total"))
    message = visible(str(said.get("message") or ""))[:MOST_WORDS]
    if done is None:
        return Progress(None, message)
    if not total or total < 0:
        return Progress(None, message or f"{done:g}")
    share = round(100 * min(max(done / total, 0), 1))
    return Progress(
        share, f"{message} ({done:g} of {total:g})".strip() if message else f"{done:g} of {total:g}"
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

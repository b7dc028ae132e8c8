"""Where a conversation was compacted: the marker that a request for it becomes, and the summary below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .html import html

Wire = Mapping[str, Any]


def marker_html(part: Wire, *, oob: bool = False) -> str:
    """A line across the conversation; what is above stays readable."""
    return html(
        "parts/compaction.html", id=part["id"], auto=part.get("auto"), done=part.get("metadata"), oob=oob
    )


def is_cleared(part: Wire) -> bool:
    """Whether the model is no longer sent the output of a tool call."""
    return bool((part["state"].get("time") or {}).get("compacted"))

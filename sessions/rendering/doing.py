"""What a session does at the moment, in a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from sessions.core.text import visible

from .tools import card

MOST = 160
"""Characters: more is in the conversation."""


def doing(status: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], root: str) -> str:
    """By the state of the session and the parts (wire) of its last message; empty for one that is idle.
    `root` is the project's folder."""
    if status.get("type") == "retry":
        said = visible(str(status.get("message") or ""))
        return f"{gettext('Tries again')}: {said}"[:MOST] if said else gettext("Tries again")
    if status.get("type") != "busy":
        return ""
    calls = [part for part in parts if part["type"] == "tool"]
    running = [part for part in calls if part["state"]["status"] in ("pending", "running")]
    if running:
        shown = card(running[-1], root)
        return visible(f"{shown.label} {shown.subtitle}".strip())[:MOST]
    last = parts[-1] if parts else {}
    if (last.get("time") or {}).get("end"):
        return gettext("Asks the model")
    return {"text": gettext("Writes"), "reasoning": gettext("Thinks")}.get(
        str(last.get("type")), gettext("Asks the model")
    )

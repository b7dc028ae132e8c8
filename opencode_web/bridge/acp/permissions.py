"""What may be answered to a permission request and to a question, as an editor's options."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import shorten
from typing import Any

from acp.schema import DeniedOutcome, PermissionOption, RequestPermissionResponse, ToolCallUpdate

Json = Mapping[str, Any]

REJECT = "reject"
SCOPES: Mapping[str, str] = {
    "session": "in this session",
    "turn": "in this turn",
    "minutes": "for 10 minutes",
    "project": "in this project",
}
"""How far "always" reaches, the one first that an editor takes which shows one only; and how it is called."""
SKIP = "skip"
LONGEST = 80
"""Characters of patterns in an option."""


def options(request: Json) -> list[PermissionOption]:
    """Those of a permission request. What cannot become a rule is allowed once or not at all."""
    found = [PermissionOption(option_id="once", name="Allow once", kind="allow_once")]
    if patterns := ", ".join(request.get("always") or []):
        what = shorten(patterns, LONGEST, placeholder=" …")
        found += [
            PermissionOption(option_id=scope, name=f"Allow {what} {words}", kind="allow_always")
            for scope, words in SCOPES.items()
        ]
    return [*found, PermissionOption(option_id=REJECT, name="Reject", kind="reject_once")]


def reply(answer: RequestPermissionResponse) -> dict[str, Any]:
    """The body that answers the request; who closed it without a choice rejected it."""
    chosen = _chosen(answer)
    if chosen in SCOPES:
        return {"reply": "always", "scope": chosen}
    return {"reply": "once" if chosen == "once" else REJECT}


def question(request: Json, call_id: str, number: int) -> tuple[ToolCallUpdate, list[PermissionOption]]:
    """One of its questions, as editors can show it: a choice of one label."""
    asked = request["questions"][number]
    call = ToolCallUpdate(tool_call_id=call_id, title=asked["question"], kind="other")
    labels = [
        PermissionOption(option_id=f"{number} {place}", name=option["label"], kind="allow_once")
        for place, option in enumerate(asked.get("options") or [])
    ]
    return call, [*labels, PermissionOption(option_id=SKIP, name="Skip", kind="reject_once")]


def label(request: Json, number: int, answer: RequestPermissionResponse) -> str | None:
    """The label that was chosen; None when none was."""
    chosen = _chosen(answer)
    for place, option in enumerate(request["questions"][number].get("options") or []):
        if chosen == f"{number} {place}":
            return str(option["label"])
    return None


def _chosen(answer: RequestPermissionResponse) -> str:
    return "" if isinstance(answer.outcome, DeniedOutcome) else answer.outcome.option_id

"""Plain words for scopes, decisions and answered requests."""

from __future__ import annotations

from sessions.ids import now
from sessions.models import Decision, SavedRule

_SETTLED = {
    "once": "This was answered already: allowed once.",
    "always": "This was answered already: allowed by a rule.",
    "reject": "This was answered already: rejected.",
    "cancelled": "The call or its turn has ended; this question no longer waits for an answer.",
}
_VERDICTS = {
    "allow": "Allowed",
    "deny": "Denied",
    "cancel": "Withdrawn",
    "revoke": "Revoked",
    "restore": "Restored",
}
_DECIDERS = {
    "person": "by a person",
    "rule": "by a saved rule",
    "plugin": "by a plugin",
    "configuration": "by the configuration",
    "stop": "because the turn was stopped",
    "call": "because the file changed and the call proposed anew",
}
_SCOPES = {
    "once": "once",
    "turn": "for the turn",
    "session": "for the session",
    "project": "for the project",
    "minutes": "for some minutes",
}


def settled(state: str) -> str:
    """Why a request can no longer be answered."""
    return _SETTLED.get(state, _SETTLED["cancelled"])


def verdict(decision: Decision) -> str:
    return _VERDICTS.get(decision.verdict, decision.verdict)


def decider(decision: Decision) -> str:
    """Who or what decided, and how far an allow reached."""
    by = _DECIDERS.get(decision.by, decision.by)
    who = f" ({decision.actor})" if decision.actor else ""
    reach = _SCOPES.get(decision.scope, "") if decision.verdict == "allow" and decision.by == "person" else ""
    return f"{by}{who}{f', {reach}' if reach else ''}"


def reach(rule: SavedRule) -> str:
    """How far a saved rule reaches."""
    if rule.time_expires is not None:
        minutes = max(1, round((rule.time_expires - now()) / 60_000))
        return f"for {minutes} more minute{'' if minutes == 1 else 's'}"
    return {"turn": "this turn", "session": "this session"}.get(rule.scope, "this project")

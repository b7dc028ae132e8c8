"""Requests and what is left of them, in a few words."""

from __future__ import annotations

from typing import Any

from sessions.core.models import PermissionRequest, Session
from sessions.core.store import permissions


def ask(
    session: Session, *patterns: str, always: tuple[str, ...] = ("git *",), **more: Any
) -> PermissionRequest:
    """A request to run `git status`; its hash is "h"."""
    given: dict[str, Any] = {
        "message_id": "",
        "call_id": "call",
        "agent": "build",
        "permission": "bash",
        "metadata": {},
        "arguments_hash": "h",
    }
    return permissions.ask(session, patterns=patterns or ("git status",), always=always, **given | more)


def said(session: Session) -> list[tuple[str, str, str, str]]:
    """The audit, the newest first: verdict, who or what, scope, rule."""
    rows = permissions.decisions(session.project_id)
    return [(row.verdict, row.by, row.scope, row.rule) for row in rows]


def in_force(session: Session, message_id: str = "") -> list[str]:
    """The patterns that a call of a message is allowed by."""
    return [rule.pattern for rule in permissions.in_force(session, message_id)]

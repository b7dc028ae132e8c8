"""Wait for a person without holding a thread: one event a pending request (seed 004 §7.4)."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.permission.errors import NotPermitted, PermissionDenied, PermissionRejected
from agents.permission.rules import Rule, decide, evaluate
from agents.plugins import calls as hooks
from agents.tools.base import Approval
from sessions.db import in_db
from sessions.models import PermissionRequest, SavedRule, Session
from sessions.store import permissions


@dataclass(frozen=True, slots=True)
class Question:
    """One request with the rules of the agent that was effective when its call was issued (seed 002)."""

    session: Session
    message_id: str
    call_id: str
    agent: str
    rules: Sequence[Rule]
    permission: str
    patterns: Sequence[str]
    always: Sequence[str]
    metadata: Mapping[str, Any]

    def decide(self, saved: Sequence[SavedRule]) -> str:
        approved = [Rule(rule.permission, rule.pattern, "allow") for rule in saved]
        return decide(self.permission, self.patterns, self.rules, approved)


_waiting: dict[str, tuple[Question, asyncio.Event]] = {}


def answered(request_id: str) -> None:
    """The row has its answer now."""
    if request_id in _waiting:
        _waiting[request_id][1].set()


def look_again() -> None:
    """Read every row that is waited for: the message of an answer may have been lost."""
    for _, event in _waiting.values():
        event.set()


async def ask(question: Question) -> Approval:
    """Return when allowed; raises PermissionDenied or PermissionRejected."""
    verdict = question.decide(await in_db(permissions.saved_rules, question.session.project_id))
    if verdict == "deny":
        raise PermissionDenied(_denying(question))
    if verdict == "ask":
        verdict = await hooks.verdict(
            question.session,
            question.permission,
            question.patterns,
            question.metadata,
            question.message_id,
            question.call_id,
        )
        if verdict == "deny":
            raise NotPermitted(f"A plugin of the user denies this call ({question.permission}).")
    if verdict == "allow":
        return Approval()
    row = await in_db(
        permissions.ask,
        question.session,
        message_id=question.message_id,
        call_id=question.call_id,
        agent=question.agent,
        permission=question.permission,
        patterns=question.patterns,
        always=question.always,
        metadata=dict(question.metadata),
        arguments_hash=_hash(question),
    )
    answer = await _answer(row.id, question)
    await _settled(answer)
    return Approval(answer.replacement, answer.words)


async def _answer(request_id: str, question: Question) -> PermissionRequest:
    """The request once it is no longer pending; the row is read again in case the hint came too early."""
    event = asyncio.Event()
    _waiting[request_id] = (question, event)
    try:
        while True:
            row = await in_db(permissions.get, request_id)
            if row is None:
                raise PermissionRejected("The request is gone.")
            if row.state != "pending":
                return row
            await event.wait()
            event.clear()
    finally:
        del _waiting[request_id]


async def _settled(row: PermissionRequest) -> None:
    if row.state == "always":
        await _allow_others(row)
    elif row.state != "once":
        await _reject_others(row)
        raise PermissionRejected(row.words)


async def _allow_others(row: PermissionRequest) -> None:
    """A new rule may answer what else waits in the project."""
    saved = await in_db(permissions.saved_rules, row.session.project_id)
    for request_id, (question, _) in list(_waiting.items()):
        same_project = question.session.project_id == row.session.project_id
        if same_project and question.decide(saved) == "allow":
            await in_db(permissions.reply, request_id, "once")
            answered(request_id)


async def _reject_others(row: PermissionRequest) -> None:
    """A rejection answers everything else the session asks at the same time."""
    for request_id, (question, _) in list(_waiting.items()):
        if question.session.id == row.session_id:
            await in_db(permissions.reply, request_id, "reject", row.words)
            answered(request_id)


def _denying(question: Question) -> Rule:
    for pattern in question.patterns:
        rule = evaluate(question.permission, pattern, question.rules)
        if rule.action == "deny":
            return rule
    return Rule(question.permission, "*", "deny")


def _hash(question: Question) -> str:
    """Binds an answer to exactly what was asked (peers.md, rule 12)."""
    asked = [question.call_id, question.permission, list(question.patterns), dict(question.metadata)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()

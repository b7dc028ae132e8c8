"""Wait for a person without holding a thread: one event a pending request."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import transaction

from agents.agent.calls.reviewing import Opinion
from agents.plugins import calls as hooks
from agents.toolkit.base import Approval
from agents.toolkit.permission import presets
from agents.toolkit.permission import rules as permission_rules
from agents.toolkit.permission.errors import NotPermitted, Outdated, PermissionDenied, PermissionRejected
from agents.toolkit.permission.rules import Rule, Verdict
from sessions.core.db import in_db
from sessions.core.models import PermissionRequest, SavedRule, Session
from sessions.core.store import permissions
from sessions.core.wire.session import Preset

LOOK_SECONDS = 1.0
"""How often it is looked whether what a request is about is still so."""
CHANGED = "The file changed since this was proposed."


@dataclass(frozen=True)
class Question:
    """One request with the rules of the agent that was effective when its call was issued.

    `outdated` tells whether what is asked about is no longer so; it may block.
    """

    session: Session
    message_id: str
    call_id: str
    agent: str
    rules: Sequence[Rule]
    permission: str
    patterns: Sequence[str]
    always: Sequence[str]
    metadata: Mapping[str, Any]
    outdated: Callable[[], bool] | None = None
    tool: str = ""
    """The tool whose call it is, for the words of a denial."""
    unchosen: Preset = "ask"
    """The preset of a session that none was chosen for."""
    review: Callable[[], Awaitable[Opinion]] | None = None
    """Asks the reviewer, where there is one."""
    waived: bool = False
    """Review mode: what would be asked is allowed, as nothing is written until a person keeps it."""

    @cached_property
    def hash(self) -> str:
        """Binds an answer to exactly what was asked; the same for the same call made again, whatever words
        are put to it."""
        said = {name: value for name, value in self.metadata.items() if name != "description"}
        asked = [self.permission, list(self.patterns), said]
        return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()

    @cached_property
    def call(self) -> permissions.Call:
        """What the audit knows of it while nobody is asked."""
        return permissions.Call(self.session, self.call_id, self.permission, self.patterns, self.hash)

    def preset(self) -> str:
        """That of the session, as it is now; on the ORM's thread."""
        chosen = Session.objects.filter(id=self.session.id).values_list("preset", flat=True).first()
        return chosen or self.unchosen

    def answered_by(self, verdict: Verdict) -> str:
        """The session's preset, if it says yes where these rules ask; on the ORM's thread."""
        if presets.is_for_a_person(self.permission, self.patterns, verdict.rules):
            return ""
        preset = self.preset()
        return preset if presets.answers(preset, self.permission, self.patterns, self.metadata) else ""

    def is_reviewed(self, verdict: Verdict) -> bool:
        """Whether the reviewer reads it first; on the ORM's thread."""
        for_a_person = presets.is_for_a_person(self.permission, self.patterns, verdict.rules)
        return self.review is not None and not for_a_person and self.preset() == "reviewed"

    def judge(self) -> tuple[Verdict, list[SavedRule]]:
        """What the rules say now, and the saved ones that count; on the ORM's thread."""
        saved = permissions.in_force(self.session, self.message_id)
        approved = [
            permission_rules.Approval(rule.permission, rule.pattern, "allow", rule.id) for rule in saved
        ]
        verdict = permission_rules.judge(self.permission, self.patterns, self.rules, approved)
        counted = {rule.id for rule in verdict.rules if isinstance(rule, permission_rules.Approval)}
        return verdict, [rule for rule in saved if rule.id in counted]


_waiting: set[asyncio.Event] = set()


def look_again() -> None:
    """Read every row that is waited for: one has its answer, or a new rule may answer it. Also by the
    heartbeat, as the message of it may have been lost."""
    for event in _waiting:
        event.set()


async def ask(question: Question) -> Approval:
    """Return when allowed; raises PermissionDenied, PermissionRejected, Outdated."""
    verdict = await _decided(question)
    if verdict.action == "allow" or await in_db(_by_preset, question, verdict):
        return Approval()
    if question.waived:
        return await _waived(question)
    said: dict[str, str] = {}
    if question.review is not None and await in_db(question.is_reviewed, verdict):
        opinion = await question.review()
        if question.outdated is not None and await asyncio.to_thread(question.outdated):
            raise Outdated
        if opinion.allow:
            await in_db(permissions.note, question.call, "allow", "reviewer", words=opinion.reason)
            return Approval(reviewed=opinion.reason)
        said["reviewer"] = opinion.reason
    row = await in_db(
        permissions.ask,
        question.session,
        message_id=question.message_id,
        call_id=question.call_id,
        agent=question.agent,
        permission=question.permission,
        patterns=question.patterns,
        always=question.always,
        metadata={**question.metadata, **said, "rule": permissions.in_words(verdict.rules)},
        arguments_hash=question.hash,
    )
    answer = await _answer(row.id, question)
    if answer.state not in ("once", "always"):
        raise PermissionRejected(answer.words)
    await _still(row.id, question)
    return Approval(answer.replacement, answer.words)


async def _decided(question: Question) -> Verdict:
    """What the rules and the plugins say; nobody is asked. Raises PermissionDenied, NotPermitted."""
    verdict = await in_db(by_rules, question)
    if verdict.action == "deny":
        raise PermissionDenied(
            verdict.rules[0], permission=question.permission, tool=question.tool, agent=question.agent
        )
    if verdict.action == "allow":
        return verdict
    said = await hooks.verdict(
        question.session,
        question.permission,
        question.patterns,
        question.metadata,
        question.message_id,
        question.call_id,
    )
    if said == "ask":
        return verdict
    await in_db(permissions.note, question.call, "allow" if said == "allow" else "deny", "plugin")
    if said == "deny":
        raise NotPermitted(f"A plugin of the user denies this call ({question.permission}).")
    return Verdict("allow")


def _by_preset(question: Question, verdict: Verdict) -> bool:
    """Whether the session's preset says yes, as it is now; noted then. On the ORM's thread."""
    preset = question.answered_by(verdict)
    if preset:
        permissions.note(question.call, "allow", "preset", rule=preset)
    return bool(preset)


async def _waived(question: Question) -> Approval:
    await in_db(permissions.note, question.call, "allow", "review")
    return Approval()


def by_rules(question: Question) -> Verdict:
    """What the rules say, noted where that is a decision; on the ORM's thread."""
    verdict, used = question.judge()
    if verdict.action == "allow" and not used:
        return verdict  # by the configuration, which nothing is noted of
    with transaction.atomic():
        verdict, used = question.judge()
        if verdict.action != "allow" and permissions.use_pass(question.call):
            return Verdict("allow")
        if verdict.action == "deny":
            permissions.note(question.call, "deny", "configuration", rule=permissions.in_words(verdict.rules))
        elif verdict.action == "allow" and used:
            permissions.used(question.call, used)
    return verdict


async def _answer(request_id: str, question: Question) -> PermissionRequest:
    """The request once it is no longer pending; the row is read again in case the hint came too early."""
    event = asyncio.Event()
    _waiting.add(event)
    patience = LOOK_SECONDS if question.outdated else None
    try:
        while True:
            row = await in_db(_looked_at, request_id, question)
            if row.state != "pending":
                return row
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await event.wait()
            event.clear()
            await _still(request_id, question)
    finally:
        _waiting.discard(event)


def _looked_at(request_id: str, question: Question) -> PermissionRequest:
    """The request as it is now; a rule that was saved since it was asked may have answered it."""
    row = permissions.get(request_id)
    if row is not None and row.state == "pending":
        verdict, used = question.judge()
        by_rules = verdict.action == "allow" and used and permissions.allow_by_rules(request_id, used)
        preset = question.answered_by(verdict) if verdict.action == "ask" else ""
        if by_rules or (preset and permissions.allow_by_preset(request_id, preset)):
            row = permissions.get(request_id)
    if row is None:
        raise PermissionRejected("The request is gone.")
    return row


async def _still(request_id: str, question: Question) -> None:
    """Raises Outdated, with the request withdrawn, when what is asked about is no longer so. A rejection that
    came first stands."""
    outdated = question.outdated
    if outdated is not None and await asyncio.to_thread(outdated):
        row = await in_db(permissions.withdraw, request_id, CHANGED)
        if row is None or row.state != "reject":
            raise Outdated

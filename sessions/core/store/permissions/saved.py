"""Saved rules: made with an answer, used by calls, revoked, exported as configuration."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F

from sessions.core.ids import now
from sessions.core.models import PermissionRequest, SavedRule
from sessions.core.store import events
from sessions.core.wire.patterns import READ_DEFAULTS, is_everything

from . import audit, scopes
from .audit import Call
from .replies import Answer

_ORDER = {"allow": 0, "ask": 1, "deny": 2}


def save(row: PermissionRequest, answer: Answer) -> list[SavedRule]:
    """The allow rules of an answer, in its transaction; a rule that is there already is not made twice."""
    reach = scopes.reach(row, answer.scope, answer.minutes)
    if reach is None:
        return []
    scopes.sweep(row.session.project_id)
    patterns = row.always if answer.patterns is None else answer.patterns
    _changed(row.session.project_id)
    return [_saved(row, pattern, reach, answer.actor) for pattern in dict.fromkeys(patterns)]


def _saved(row: PermissionRequest, pattern: str, reach: scopes.Reach, actor: str) -> SavedRule:
    place = {
        "project_id": row.session.project_id,
        "session_id": reach.session_id,
        "message_id": reach.message_id,
        "permission": row.permission,
        "pattern": pattern,
    }
    lasting = SavedRule.objects.filter(**place, time_expires__isnull=reach.time_expires is None)
    rule = lasting.first() or SavedRule(**place, origin=row.id, actor=actor, time_created=now())
    rule.time_expires = reach.time_expires
    rule.save()
    return rule


def used(call: Call, rules: Sequence[SavedRule]) -> None:
    """Rules allowed a call: count that and note the decision, in one transaction."""
    with transaction.atomic():
        counted = SavedRule.objects.filter(id__in=[rule.id for rule in rules])
        counted.update(uses=F("uses") + 1, time_used=now())
        audit.note(call, "allow", "rule", rule=audit.in_words(rules), scope=rules[0].scope)


def revoke(rule_id: int, actor: str) -> bool:
    """Take a rule back: it allows no call from now on. Whether it was there."""
    with transaction.atomic():
        rule = SavedRule.objects.filter(id=rule_id).first()
        if rule is None:
            return False
        rule.time_revoked = now()
        rule.save(update_fields=["time_revoked"])
        audit.note_rule(rule, "revoke", actor)
        _changed(rule.project_id)
    return True


def restore(rule_id: int, actor: str) -> bool:
    """Undo the revoking of exactly this rule: it allows again what it did. Whether that could be done: not
    when it has run out, or the same was saved anew."""
    with transaction.atomic():
        rule = SavedRule.every.exclude(time_revoked=None).filter(id=rule_id).first()
        if rule is None or scopes.is_over(rule) or _again(rule):
            return False
        rule.time_revoked = None
        rule.save(update_fields=["time_revoked"])
        audit.note_rule(rule, "restore", actor)
        _changed(rule.project_id)
    return True


def _again(rule: SavedRule) -> bool:
    same = ("project_id", "session_id", "message_id", "permission", "pattern", "action", "time_expires")
    return SavedRule.objects.filter(**{name: getattr(rule, name) for name in same}).exists()


def _changed(project_id: str) -> None:
    """Tell pages that the rules of a project are others; call it inside `atomic`."""
    events.record("permission.rules", {"projectID": project_id}, project=project_id)


def exported(project_id: str) -> dict[str, dict[str, str]]:
    """The rules of the whole project as OpenCode's `permission` configuration, where the last match wins.

    What denies comes last. An allow of everything comes first, and to `read` after it what reading asks about
    by itself: a saved `*` does not lift that, and must not when it has become configuration.
    """
    lasting = SavedRule.objects.filter(project_id=project_id, session=None, message_id="", time_expires=None)
    made: dict[str, dict[str, str]] = {}
    for rule in sorted(lasting, key=_place):
        settings = made.setdefault(rule.permission, {})
        settings[rule.pattern] = rule.action
        if rule.permission == "read" and is_everything(rule.pattern):
            settings |= {key: value for key, value in READ_DEFAULTS.items() if not is_everything(key)}
    return made


def _place(rule: SavedRule) -> tuple[bool, str, int, bool, str]:
    general = is_everything(rule.permission)
    return not general, rule.permission, _ORDER[rule.action], not is_everything(rule.pattern), rule.pattern

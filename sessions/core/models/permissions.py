from __future__ import annotations

from typing import Any, NoReturn

from django.db import models

from .conversation import Session
from .project import Project


class PermissionRequest(models.Model):
    """A question of the agent that waits for a person. Answered once, never deleted.

    `state` is `pending`, then `once`, `always`, `reject` or `cancelled` (the turn ended first, or the file
    changed and the call proposed anew). `arguments_hash` binds the answer to what was asked. `replacement`
    is what the person allowed in place of the proposal: contents by path as the request shows it. `actor` is
    who answered.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="permissions")
    message_id = models.CharField(max_length=32, blank=True)
    call_id = models.CharField(max_length=128, blank=True)
    agent = models.CharField(max_length=64, blank=True)
    permission = models.CharField(max_length=128)
    patterns = models.JSONField()
    always = models.JSONField(default=list)
    metadata = models.JSONField(default=dict)
    arguments_hash = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=16, default="pending")
    words = models.TextField(blank=True)
    replacement = models.JSONField(default=dict)
    actor = models.CharField(max_length=128, blank=True)
    time_created = models.BigIntegerField()
    time_answered = models.BigIntegerField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["session", "state"], name="permission_by_state")]


class NotRevoked(models.Manager["SavedRule"]):
    """The rules that were not taken back: no other may ever allow anything."""

    def get_queryset(self) -> models.QuerySet[SavedRule]:
        return super().get_queryset().filter(time_revoked=None)


class SavedRule(models.Model):
    """What "allow" added beyond one call; deny rules of the configuration still win.

    It counts for the whole project, or with `session` for that session and its subagents, with `message_id`
    for the turn of that prompt, with `time_expires` (milliseconds) until then. `origin` is the request it was
    made at, `uses` how often it has allowed something since. One that was revoked stays, so that
    this can be undone; `objects` does not have it, `every` has.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rules")
    session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.CASCADE, related_name="saved_rules"
    )
    message_id = models.CharField(max_length=32, blank=True)
    permission = models.CharField(max_length=128)
    pattern = models.TextField()
    action = models.CharField(max_length=8, default="allow")
    origin = models.CharField(max_length=32, blank=True)
    actor = models.CharField(max_length=128, blank=True)
    uses = models.IntegerField(default=0)
    time_used = models.BigIntegerField(null=True, blank=True)
    time_expires = models.BigIntegerField(null=True, blank=True)
    time_revoked = models.BigIntegerField(null=True, blank=True)
    time_created = models.BigIntegerField()

    objects = NotRevoked()
    every = models.Manager["SavedRule"]()

    class Meta:
        indexes = [models.Index(fields=["project", "permission"], name="rule_by_permission")]

    @property
    def scope(self) -> str:
        """How far it reaches: turn, session, minutes or project."""
        if self.message_id:
            return "turn"
        if self.session_id:
            return "session"
        return "project" if self.time_expires is None else "minutes"


class NotChanged(TypeError):
    """A decision stays as it was written."""


class OnlyAdded(models.QuerySet["Decision"]):
    """Rows that are never changed or deleted, also not many at once."""

    def update(self, **_: Any) -> NoReturn:
        raise NotChanged("decisions are not changed")

    def bulk_update(self, *_: Any, **__: Any) -> NoReturn:
        raise NotChanged("decisions are not changed")

    def delete(self) -> NoReturn:
        raise NotChanged("decisions are not deleted")


class Decision(models.Model):
    """The audit: one row for every decision on a permission, only ever added.

    No foreign keys: a decision outlives what it names. `verdict` is `allow`, `deny`, `cancel`, `pass` (a
    denied call goes through once), or of a saved rule `revoke` or `restore`; `by` says who or what decided
    (`person`, `rule`, `plugin`, `configuration`, `review`, `preset`, `stop`, or the `call` itself, whose file
    changed meanwhile), `actor` which person, `rule` which rule in words, `scope` how far an allow reaches.
    SQLite refuses changes too (`site.database`).
    """

    id = models.BigAutoField(primary_key=True)
    project_id = models.CharField(max_length=40)
    session_id = models.CharField(max_length=32, blank=True)
    request_id = models.CharField(max_length=32, blank=True)
    call_id = models.CharField(max_length=128, blank=True)
    permission = models.CharField(max_length=128)
    patterns = models.JSONField(default=list)
    arguments_hash = models.CharField(max_length=64, blank=True)
    verdict = models.CharField(max_length=16)
    by = models.CharField(max_length=16)
    actor = models.CharField(max_length=128, blank=True)
    rule = models.TextField(blank=True)
    scope = models.CharField(max_length=16, blank=True)
    words = models.TextField(blank=True)
    time_created = models.BigIntegerField()

    objects = OnlyAdded.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["project_id", "id"], name="decision_by_project"),
            models.Index(fields=["project_id", "permission"], name="decision_by_permission"),
        ]

    def save(self, *_: Any, **__: Any) -> None:
        if not self._state.adding:
            raise NotChanged("decisions are not changed")
        super().save(force_insert=True)

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        raise NotChanged("decisions are not deleted")

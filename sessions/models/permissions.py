from __future__ import annotations

from django.db import models

from .conversation import Session
from .project import Project


class PermissionRequest(models.Model):
    """A question of the agent that waits for a person (seed 004 §7.4). Answered once, never deleted.

    `state` is `pending`, then `once`, `always`, `reject` or `cancelled` (the turn ended first).
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
    time_created = models.BigIntegerField()
    time_answered = models.BigIntegerField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["session", "state"], name="permission_by_state")]


class SavedRule(models.Model):
    """What "allow always" added for a project; deny rules of the configuration still win."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rules")
    permission = models.CharField(max_length=128)
    pattern = models.TextField()
    action = models.CharField(max_length=8, default="allow")
    origin = models.CharField(max_length=32, blank=True)
    time_created = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "permission", "pattern"], name="one_rule_a_pattern")
        ]

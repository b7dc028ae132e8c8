from __future__ import annotations

from django.db import models

from .conversation import Session


class QuestionRequest(models.Model):
    """Questions of a tool call that wait for a person. Answered once, never deleted.

    `state` is `pending`, then `answered`, `rejected` or `cancelled` (the turn ended first). `questions` are
    the wire's; `answers` has a list of labels or own words for each. `tool` names the tool that asks.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="questions")
    message_id = models.CharField(max_length=32, blank=True)
    call_id = models.CharField(max_length=128, blank=True)
    tool = models.CharField(max_length=128)
    questions = models.JSONField()
    answers = models.JSONField(default=list)
    state = models.CharField(max_length=16, default="pending")
    time_created = models.BigIntegerField()
    time_answered = models.BigIntegerField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["session", "state"], name="question_by_state")]

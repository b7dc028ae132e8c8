from __future__ import annotations

from typing import Any

from django.db import models


class Returned(models.BigIntegerField):  # type: ignore[type-arg]  # the value of a row, or an expression
    """Made by an expression in the INSERT, and read back by the same statement."""

    db_returning = True

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.BigIntegerField", args, kwargs


class Event(models.Model):
    """What changed, by reference only; the primary key is the cursor of clients.

    `project_id` and `session_id` are no foreign keys: an event outlives what it names. `stage` is how far
    that was then, for events of which the row only tells the end: a call that ran, a prompt that was
    admitted. `number` counts what changed in a session, from 0 (docs/decisions/0033).
    """

    id = models.BigAutoField(primary_key=True)
    type = models.CharField(max_length=48)
    project_id = models.CharField(max_length=40, blank=True)
    session_id = models.CharField(max_length=32, blank=True)
    number = Returned(null=True)
    reference = models.JSONField(default=dict)
    stage = models.CharField(max_length=12, blank=True)
    time_created = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["session_id", "id"], name="event_by_session")]

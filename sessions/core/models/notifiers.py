from __future__ import annotations

from django.db import models


class Notifier(models.Model):
    """A way to tell a person what happened while they look at no page (docs/notifiers.md).

    `format` is a key of `agents.notifiers.formats.FORMATS`. `sealed` are its address and secrets as JSON,
    encrypted (`sessions.core.sealing`); `place` is what is shown of them. `person` is whose it is, where a
    server has people. `kinds` are what it tells (`sessions.core.store.notifiers.KINDS`), of all projects or
    of those with the ids in `projects`. `wait` are minutes after which what nobody has looked at is told.
    From `quiet_from` until `quiet_until` (`HH:MM` in `zone`; empty: never) it tells nothing. `base` is where
    its links lead: the origin of the page on which it was set up, in whose `language` it speaks.
    `result` is how the last delivery went, `words` what was said of it, `time_told` when (ms).
    """

    id = models.CharField(primary_key=True, max_length=32)
    person = models.CharField(max_length=128, blank=True)
    name = models.CharField(max_length=80)
    format = models.CharField(max_length=16)
    sealed = models.TextField()
    place = models.CharField(max_length=300, blank=True)
    kinds = models.JSONField(default=list)
    projects = models.JSONField(default=list)
    wait = models.PositiveIntegerField(default=0)
    quiet_from = models.CharField(max_length=5, blank=True)
    quiet_until = models.CharField(max_length=5, blank=True)
    zone = models.CharField(max_length=64, blank=True)
    base = models.CharField(max_length=300, blank=True)
    language = models.CharField(max_length=16, blank=True)
    enabled = models.BooleanField(default=True)
    result = models.CharField(max_length=8, blank=True)
    words = models.TextField(blank=True)
    time_told = models.BigIntegerField(null=True, blank=True)
    time_created = models.BigIntegerField()

    objects: models.Manager[Notifier] = models.Manager()


class Delivery(models.Model):
    """News on their way to a notifier: the outbox. It is written with what happened, in one transaction.

    `news` are what `sessions.core.store.notifiers.News` says of each. Until it is due (`time_due`, ms) more
    may be added; from its first try on (`tries`) it stays as it is, and has the same id each time. `claim`
    names the try that goes on.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENT = "sent", "Sent"
        FAILED = "failed", "Failed"
        DROPPED = "dropped", "Dropped"

    id = models.CharField(primary_key=True, max_length=32)
    notifier = models.ForeignKey(Notifier, on_delete=models.CASCADE, related_name="deliveries")
    news = models.JSONField(default=list)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    claim = models.CharField(max_length=32, blank=True)
    words = models.TextField(blank=True)
    time_due = models.BigIntegerField()
    time_created = models.BigIntegerField()

    objects: models.Manager[Delivery] = models.Manager()

    class Meta:
        indexes = [models.Index(fields=["state", "time_due"], name="delivery_due")]

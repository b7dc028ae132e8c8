from __future__ import annotations

from django.db import models


class Node(models.Model):
    """A machine of a team. `start` counts its starts, so that one that was taken for dead is told from the
    one in its place. `seen` is its last beat (ms), by the database's clock, `load` what it does (`turns`)."""

    name = models.CharField(primary_key=True, max_length=40)
    address = models.TextField()
    version = models.CharField(max_length=40)
    start = models.BigIntegerField(default=0)
    seen = models.BigIntegerField(default=0)
    load = models.JSONField(default=dict)
    time_joined = models.BigIntegerField()

    objects: models.Manager[Node] = models.Manager()

    def __str__(self) -> str:
        return self.name

from __future__ import annotations

from django.db import models


class Device(models.Model):
    """A browser that was let in by a code which another one showed; `id` is that of its login. `agent` is its
    User-Agent, empty until it came. Times in ms since 1970."""

    id = models.CharField(primary_key=True, max_length=64)
    name = models.CharField(max_length=80)
    agent = models.CharField(max_length=200, blank=True)
    time_created = models.BigIntegerField()
    time_joined = models.BigIntegerField(null=True, blank=True)

    objects: models.Manager[Device] = models.Manager()

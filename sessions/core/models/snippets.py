from __future__ import annotations

from django.db import models


class Snippet(models.Model):
    """A text that the person of this server puts into prompts by its name."""

    name = models.CharField(primary_key=True, max_length=40)
    text = models.TextField()
    time_updated = models.BigIntegerField()

from __future__ import annotations

from django.db import models


class ChosenKeys(models.Model):
    """The keys that the person of this server chose for something, in place of those it comes with."""

    name = models.CharField(primary_key=True, max_length=40)
    """Of `sessions.web.shortcuts`."""
    keys = models.JSONField(default=list)
    """Alternatives, as they are written there; empty for none."""

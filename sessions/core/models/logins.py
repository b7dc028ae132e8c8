from __future__ import annotations

from django.db import models


class EndedLogin(models.Model):
    """A browser's login that was ended before its time: its cookie opens nothing more, in no process."""

    id = models.CharField(primary_key=True, max_length=64)
    """Of the login; `*` for all of a generation before `time_ended`."""
    time_ended = models.FloatField()
    """Unix time in seconds."""

from __future__ import annotations

from django.db import models

from .conversation import Message


class Resumption(models.Model):
    """That a turn was cut off and can be gone on with; `prompt` is the user message that began it.

    `state` is `cut` (the server ended during it, and no worker has decided yet whether it goes on by itself),
    `due` (it goes on next) or empty. `tries`: how often it went on by itself.
    """

    prompt = models.OneToOneField(
        Message, primary_key=True, on_delete=models.CASCADE, related_name="resumption"
    )
    state = models.CharField(max_length=8, blank=True, db_index=True)
    tries = models.PositiveSmallIntegerField(default=0)

from __future__ import annotations

from django.db import models

from .conversation import Session


class Switch(models.Model):
    """Another agent or model was chosen for a session: it has its place among the messages by its id.

    `agent` is set, or else `provider_id`, `model_id` and `variant`.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="switches")
    agent = models.CharField(max_length=64, blank=True)
    provider_id = models.CharField(max_length=128, blank=True)
    model_id = models.TextField(blank=True)
    variant = models.CharField(max_length=64, blank=True)
    time_created = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["session", "id"], name="switch_in_order")]

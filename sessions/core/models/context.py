from __future__ import annotations

from django.db import models

from .conversation import Session


class ContextEpoch(models.Model):
    """The Context Epoch of a session: `baseline` is the exact text, sent as it stands to its end.

    `snapshot` is what was last admitted of each source, with the newest system message. `began` is an id
    that sorts among messages: system messages before it belong to earlier epochs. `ended` asks for a fresh
    baseline at the next provider attempt.
    """

    session = models.OneToOneField(Session, primary_key=True, on_delete=models.CASCADE, related_name="epoch")
    began = models.CharField(max_length=32)
    directory = models.TextField()
    baseline = models.TextField()
    snapshot = models.JSONField()
    ended = models.BooleanField(default=False)


class ContextMessage(models.Model):
    """A Mid-Conversation System Message: the exact text the model was told, for good.

    `id` sorts among the ids of messages, so it has its place in the history.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="context_messages")
    text = models.TextField()
    time_created = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["session", "id"], name="context_message_in_order")]

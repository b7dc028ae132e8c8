from __future__ import annotations

from django.db import models
from django.urls import reverse

from .project import Project


class Session(models.Model):
    """One conversation. Times are milliseconds; `status` is the wire's (idle, busy, retry).

    `lease_owner` and `lease_until` say which worker drains it (claimed by conditional update); each claim
    raises `lease_epoch`, and `stop_epoch` is the one whose turn is to be stopped. `revert` is the wire's
    revert state while an undo can still be redone. `window` is what filled the model's context
    window at the last step, in tokens by kind. `staging` is review mode: edits wait until a person keeps
    them. `metadata` is a client's own. `share_token` is the secret of its shared page, empty while there is
    none; `share_base` is the address of the server it was shared at. A fork names the session it came from
    and the message it was forked before (empty: at its end). `used` puts sessions in the order of their last
    use: it is `time_updated` as long as the clock goes forward, and rises when it does not.
    `unread` is that a turn of it ended since a person last looked at it.
    """

    id = models.CharField(primary_key=True, max_length=32)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sessions")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )
    directory = models.TextField()
    slug = models.CharField(max_length=64)
    title = models.TextField()
    titled = models.BooleanField(default=False)
    version = models.CharField(max_length=16)
    agent = models.CharField(max_length=64, blank=True)
    provider_id = models.CharField(max_length=128, blank=True)
    model_id = models.TextField(blank=True)
    variant = models.CharField(max_length=64, blank=True)
    permission = models.JSONField(default=list)
    summary = models.JSONField(default=dict)
    tokens = models.JSONField(default=dict)
    cost = models.FloatField(default=0.0)
    window = models.JSONField(default=dict)
    revert = models.JSONField(null=True, blank=True)
    status = models.JSONField(default=dict)
    error = models.JSONField(null=True, blank=True)
    staging = models.BooleanField(default=False)
    metadata = models.JSONField(null=True, blank=True)
    share_token = models.CharField(max_length=64, blank=True, db_index=True)
    share_base = models.TextField(blank=True)
    forked_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="forks"
    )
    forked_at = models.CharField(max_length=32, blank=True)
    time_created = models.BigIntegerField()
    time_updated = models.BigIntegerField()
    used = models.BigIntegerField(default=0, db_index=True)
    unread = models.BooleanField(default=False)
    time_archived = models.BigIntegerField(null=True, blank=True)
    time_compacting = models.BigIntegerField(null=True, blank=True)
    time_deleted = models.BigIntegerField(null=True, blank=True)
    lease_owner = models.CharField(max_length=64, blank=True)
    lease_until = models.BigIntegerField(default=0)
    lease_epoch = models.BigIntegerField(default=0)
    stop_epoch = models.BigIntegerField(default=0)
    next_number = models.BigIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["project", "-used"], name="session_by_use"),
            models.Index(fields=["lease_owner"], name="session_by_lease"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.title}"

    def get_absolute_url(self) -> str:
        return reverse("session", args=(self.project_id, self.id))


class Message(models.Model):
    """`data` is the wire's message without id, sessionID and role. `prompt_id` is the id that a prompt was
    admitted with, if it could not keep it: it was promoted after later messages."""

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="messages")
    role = models.CharField(max_length=16)
    prompt_id = models.CharField(max_length=32, blank=True)
    time_created = models.BigIntegerField()
    data = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["session", "id"], name="message_in_order")]


class Part(models.Model):
    """`data` is the wire's part without id, sessionID, messageID and type."""

    id = models.CharField(primary_key=True, max_length=32)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="parts")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="parts")
    type = models.CharField(max_length=16)
    data = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["message", "id"], name="part_in_order")]


class Todo(models.Model):
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="todos")
    position = models.IntegerField()
    content = models.TextField()
    status = models.CharField(max_length=16)
    priority = models.CharField(max_length=16)

    class Meta:
        ordering = ["position"]

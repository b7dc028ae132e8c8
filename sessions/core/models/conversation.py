from __future__ import annotations

from django.db import models
from django.urls import reverse

from sessions.core.models.project import Project


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
    `preset` is how much is asked, empty where nobody chose (`store.presets`). `time_pinned` is since when a
    person has it above the others in lists.
    `session_folder` is where a person put it in the list, `time_filed` since when. What is pinned and what is
    in a folder is in the order of these times, the newest first: to order it by hand exchanges the times.
    `folders` are those that were added, `name` and `path` of each (`store.added_folders`).
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
    preset = models.CharField(max_length=16, blank=True)
    folders = models.JSONField(default=list)
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
    time_pinned = models.BigIntegerField(null=True, blank=True)
    session_folder = models.ForeignKey(
        "SessionFolder", null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )
    time_filed = models.BigIntegerField(null=True, blank=True)
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
            models.Index(
                fields=["project"], condition=models.Q(time_pinned__isnull=False), name="session_pinned"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.title}"

    def get_absolute_url(self) -> str:
        return reverse("session", args=(self.project_id, self.id))


class Message(models.Model):
    """`data` is the wire's message without id, sessionID and role. `prompt_id` is the id that a prompt was
    admitted with, if it could not keep it: it was promoted after later messages. `document` is its number in
    the index of words, None while it is not in it (`store.index`)."""

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="messages")
    role = models.CharField(max_length=16)
    prompt_id = models.CharField(max_length=32, blank=True)
    time_created = models.BigIntegerField()
    data = models.JSONField()
    document = models.BigIntegerField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["session", "id"], name="message_in_order"),
            models.Index(
                fields=["document", "time_created", "session"],
                condition=models.Q(document__isnull=False),
                name="message_by_document",
            ),
            models.Index(fields=["id"], condition=models.Q(document=None), name="message_due"),
        ]


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


class AdmittedPrompt(models.Model):
    """A durable user input not yet in Session History. Promotion deletes the row.

    `id` is the id its user message will have; `parts` are the wire's prompt parts, `format` its OutputFormat.
    `position` rises within a session, `delivery` is `steer` or `queue`. With `no_reply` it becomes a message
    that asks for no answer; without `resume` it waits until something else wakes the session.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="inbox")
    position = models.BigIntegerField()
    delivery = models.CharField(max_length=8, default="queue")
    agent = models.CharField(max_length=64, blank=True)
    provider_id = models.CharField(max_length=128, blank=True)
    model_id = models.TextField(blank=True)
    variant = models.CharField(max_length=64, blank=True)
    system = models.TextField(blank=True)
    tools = models.JSONField(default=dict)
    format = models.JSONField(null=True, blank=True)
    parts = models.JSONField()
    no_reply = models.BooleanField(default=False)
    resume = models.BooleanField(default=True)
    time_created = models.BigIntegerField()

    class Meta:
        ordering = ["position", "id"]


class Admission(models.Model):
    """That a prompt was admitted, for ever: a client that sends it again gets the same answer.

    `id` is the prompt's, `digest` of its content. `no_reply`: it asks for no answer. `stopped` are the parts
    of a prompt that was stopped before the model was asked, until a person takes them back or lets them go.
    `actor` is who sent it, where a server has people.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="admissions")
    digest = models.CharField(max_length=64)
    no_reply = models.BooleanField(default=False)
    actor = models.CharField(max_length=128, blank=True)
    stopped = models.JSONField(null=True, blank=True)
    time_created = models.BigIntegerField()


class ContextEpoch(models.Model):
    """The Context Epoch of a session: `baseline` is the exact text, sent as it stands to its end.

    `snapshot` is what was last admitted of each source, with the newest system message. `began` is an id
    that sorts among messages: system messages before it belong to earlier epochs. `ended` asks for a fresh
    baseline at the next provider attempt. `visited` are the folders with instructions of their own that the
    session has come to since it works here, relative to the root and packed (`pack_path`).
    """

    session = models.OneToOneField(Session, primary_key=True, on_delete=models.CASCADE, related_name="epoch")
    began = models.CharField(max_length=32)
    directory = models.TextField()
    baseline = models.TextField()
    snapshot = models.JSONField()
    visited = models.JSONField(default=list)
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


class Resumption(models.Model):
    """That a turn was cut off and can be gone on with; `prompt` is the user message that began it.

    `state` is `cut` (the server ended during it, and no worker has decided yet whether it goes on by itself),
    `due` (it goes on next), `begun` (it was) or empty. `tries`: how often it went on by itself.
    """

    prompt = models.OneToOneField(
        Message, primary_key=True, on_delete=models.CASCADE, related_name="resumption"
    )
    state = models.CharField(max_length=8, blank=True, db_index=True)
    tries = models.PositiveSmallIntegerField(default=0)

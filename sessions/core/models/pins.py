from __future__ import annotations

from django.db import models
from django.utils.translation.trans_null import gettext_noop

from .conversation import Message, Session
from .knowledge import ProjectNote
from .ledger import PathField

BYTES_PER_TOKEN = 4
"""Of UTF-8, about."""


class Pin(models.Model):
    """What a person wants the model of a session to have word by word, also after a compaction.

    `text` is what was pinned; of a file as it was then, where the model is given what is in it now. `size` is
    of that in bytes, `title` a line to know it by. `path` is relative to the project's worktree. A pinned
    message that is undone for good takes its pin along, and so does a `note` of the project that is removed.
    """

    class Kind(models.TextChoices):
        PROMPT = "prompt", gettext_noop("Prompt")
        ANSWER = "answer", gettext_noop("Answer")
        FILE = "file", gettext_noop("File")
        NOTE = "note", gettext_noop("Note")

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="pins")
    kind = models.CharField(max_length=8, choices=Kind)
    message = models.ForeignKey(Message, null=True, blank=True, on_delete=models.CASCADE, related_name="pins")
    note = models.ForeignKey(
        ProjectNote, null=True, blank=True, on_delete=models.CASCADE, related_name="pins"
    )
    path = PathField(blank=True)
    title = models.TextField()
    text = models.TextField()
    size = models.IntegerField()
    time_created = models.BigIntegerField()

    class Meta:
        ordering = ["id"]

    @property
    def tokens(self) -> int:
        return -(-self.size // BYTES_PER_TOKEN)

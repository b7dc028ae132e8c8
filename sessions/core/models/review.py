from __future__ import annotations

from django.db import models

from .conversation import Session
from .ledger import PathField
from .project import Project


class ReviewMark(models.Model):
    """A person has seen or kept something: `kind` is `viewed` or `kept`. `key` is a hash of the content it
    was given on (a hunk's, or a file's before and after), so it is gone when the content changes. What was
    viewed is an `actor`'s own, where a server has people; what is kept is so for all."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="marks")
    kind = models.CharField(max_length=8)
    key = models.CharField(max_length=64)
    actor = models.CharField(max_length=128, blank=True)
    time_created = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "kind", "key", "actor"], name="one_mark_a_content")
        ]


class ReviewComment(models.Model):
    """What a person says about lines of a diff; comments that were not sent go to the agent together.

    `side` is `old` or `new`; `start` and `end` are lines from 1, both included; `code` is their text when the
    comment was written. `message_id` is the prompt it was sent with: empty, or of a prompt that is no more,
    it is a draft (`sessions.core.store.comments`). `scope` is what was looked at.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="comments")
    path = PathField()
    side = models.CharField(max_length=4)
    start = models.IntegerField()
    end = models.IntegerField()
    code = models.TextField()
    text = models.TextField()
    message_id = models.CharField(max_length=32, blank=True)
    scope = models.JSONField(default=dict)
    actor = models.CharField(max_length=128, blank=True)
    time_created = models.BigIntegerField()
    time_updated = models.BigIntegerField()


class Tour(models.Model):
    """A change told by a model, in the order in which it makes sense: one for each scope of a session.

    `scope` is what was looked at, as a query (`Scope.query`). `stops` are `title`, `text` and `hunks` each;
    hunks are named as marks name them, by their content. `hunks` are all that the scope had when it was made,
    `model` is who made it, `provider/model`, `actor` who asked for it, where a server has people.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="tours")
    scope = models.TextField()
    stops = models.JSONField(default=list)
    hunks = models.JSONField(default=list)
    model = models.TextField()
    actor = models.CharField(max_length=128, blank=True)
    time_created = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "scope"], name="one_tour_a_scope")]


class StagedFile(models.Model):
    """An edit that waits in review mode: the agent sees it, the working tree has it when it is kept.

    One row a file of the topmost session (`changes.operations.staged`). It lies in `project`, which is the
    session's or a folder beside it; `path` is relative to its worktree. `base` is the content the edits begin
    with, `content` what they come to, both addresses in its object store, empty for no file. The ids name the
    call that edited last, `for_…` the call of the topmost session which a subagent made it for. `guarded`
    files are the agent's own settings: each takes a yes of its own. `time_updated` moves with each edit.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="staged")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="staged")
    path = PathField()
    base = models.CharField(max_length=64, blank=True)
    content = models.CharField(max_length=64, blank=True)
    mode_base = models.IntegerField(null=True, blank=True)
    mode = models.IntegerField(null=True, blank=True)
    by_session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="staged_here"
    )
    message_id = models.CharField(max_length=32, blank=True)
    part_id = models.CharField(max_length=32, blank=True)
    call_id = models.CharField(max_length=128, blank=True)
    for_message_id = models.CharField(max_length=32, blank=True)
    for_part_id = models.CharField(max_length=32, blank=True)
    guarded = models.BooleanField(default=False)
    time_updated = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "project", "path"], name="one_staged_file_a_path")
        ]

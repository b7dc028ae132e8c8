from __future__ import annotations

from django.db import models
from django.urls import reverse

from .conversation import Session
from .project import Project


class Schedule(models.Model):
    """What is to be done in a project by itself, and when (docs/schedules.md).

    A person made it, or it is in a Markdown `file` of the project (its path there), whose content when it was
    read has the `digest`; `problem` is why the file does not count now. `rule` says when, by its kind: a time
    without a zone, a cron expression, patterns of files a line each, a branch. `zone` is the time zone of it.
    `catch_up`: what was missed while nobody was there is done once afterwards, and else not at all.

    `text` is a prompt or a slash command; with `goal` (`checks`, `judge`, `turns`) it is an objective.
    `agent`, `model` (`provider/model`), `variant` and `preset` are the session's, empty for the usual ones;
    `worktree` gives each run one of its own. `cost` (US dollars) and `minutes` are what a run may use, 0 for
    no end. `payload`: the agent reads what the address was sent. `actor` is who set it, where a server has
    people.

    `due` is the next time of one that goes by the clock, in milliseconds; `seen` is what was there of one
    that waits for files or commits. `secret` is the SHA-256 of what its address has.
    """

    class Kind(models.TextChoices):
        ONCE = "once", "Once"
        CRON = "cron", "Again and again"
        FILES = "files", "When files change"
        COMMIT = "commit", "On a new commit"
        HOOK = "hook", "When an address is called"

    id = models.CharField(primary_key=True, max_length=32)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="schedules")
    name = models.TextField()
    file = models.TextField(blank=True)
    digest = models.CharField(max_length=64, blank=True)
    problem = models.TextField(blank=True)
    kind = models.CharField(max_length=8, choices=Kind)
    rule = models.TextField(blank=True)
    zone = models.CharField(max_length=64, blank=True)
    catch_up = models.BooleanField(default=True)
    text = models.TextField()
    goal = models.JSONField(null=True, blank=True)
    agent = models.CharField(max_length=64, blank=True)
    model = models.TextField(blank=True)
    variant = models.CharField(max_length=64, blank=True)
    preset = models.CharField(max_length=16, blank=True)
    worktree = models.BooleanField(default=False)
    cost = models.FloatField(default=0.0)
    minutes = models.PositiveIntegerField(default=0)
    payload = models.BooleanField(default=False)
    actor = models.CharField(max_length=128, blank=True)
    paused = models.BooleanField(default=False)
    due = models.BigIntegerField(null=True, blank=True, db_index=True)
    seen = models.TextField(blank=True)
    secret = models.CharField(max_length=64, blank=True, db_index=True)
    time_created = models.BigIntegerField()
    time_updated = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "file"], condition=~models.Q(file=""), name="one_schedule_a_file"
            )
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("schedule", args=(self.project_id, self.id))


class Occurrence(models.Model):
    """One time at which a schedule was due, and its run. `key` is what it is there for once: the time, the
    commit, the call. Whoever writes the row first has claimed it.

    `due` is when it was due, or happened. `reason` says why it stands as it does, `result` what the agent
    said last; `payload` is what the address was sent. `until` is when its time is over (ms). `unread` is that
    nobody has looked at how it ended.
    """

    class Cause(models.TextChoices):
        TIME = "time", "Its time"
        MISSED = "missed", "Missed, done afterwards"
        FILES = "files", "Files changed"
        COMMIT = "commit", "A new commit"
        HOOK = "hook", "Its address was called"
        HAND = "hand", "By hand"

    class State(models.TextChoices):
        WAITS = "waits", "Waits"
        RUNS = "runs", "Runs"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        BLOCKED = "blocked", "Blocked"
        SPENT = "spent", "Budget spent"
        STOPPED = "stopped", "Stopped"
        SKIPPED = "skipped", "Left out"

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="occurrences")
    key = models.CharField(max_length=128)
    cause = models.CharField(max_length=8, choices=Cause)
    due = models.BigIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.WAITS, db_index=True)
    reason = models.TextField(blank=True)
    result = models.TextField(blank=True)
    payload = models.TextField(blank=True)
    session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="occurrences"
    )
    until = models.BigIntegerField(null=True, blank=True)
    unread = models.BooleanField(default=False, db_index=True)
    time_created = models.BigIntegerField()
    time_begun = models.BigIntegerField(null=True, blank=True)
    time_ended = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["schedule", "key"], name="each_time_once")]
        ordering = ["-id"]

from __future__ import annotations

from django.db import models
from django.urls import reverse

from .conversation import Session
from .project import Project


class Comparison(models.Model):
    """One task that is tried several ways, each from the same commit (docs/compare.md).

    `folder` is where in the project it works, empty for its top. `checks` are lines as a goal has them
    (`agents.agent.goals.checks`). `judge` is a model, `provider/model`; empty for the small one, `none` for
    nobody. `preset` is how much is asked in its sessions, empty for as much as configured. `at_once` is how
    many of them may work at a time. `actor` is who began it, where a server has people.
    `best` is the number of the attempt that the judge finds best, 0 for none, and `words` why, or why nobody
    judged. `taken` is the number of the attempt whose changes were taken into the project, 0 for none yet.
    """

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        STOPPING = "stopping", "Stopping"
        JUDGING = "judging", "Judging"
        DONE = "done", "Done"

    id = models.CharField(primary_key=True, max_length=32)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="comparisons")
    folder = models.TextField(blank=True)
    prompt = models.TextField()
    commit = models.CharField(max_length=64)
    checks = models.JSONField(default=list)
    judge = models.TextField(blank=True)
    preset = models.CharField(max_length=16, blank=True)
    at_once = models.PositiveSmallIntegerField()
    actor = models.CharField(max_length=128, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.RUNNING, db_index=True)
    best = models.PositiveSmallIntegerField(default=0)
    words = models.TextField(blank=True)
    taken = models.PositiveSmallIntegerField(default=0)
    time_created = models.BigIntegerField()
    time_ended = models.BigIntegerField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["project", "id"], name="comparison_in_order")]

    def get_absolute_url(self) -> str:
        return reverse("comparison", args=(self.project_id, self.id))


class Attempt(models.Model):
    """One way in which the task of a comparison is tried: a session in a git worktree of its own.

    `agent`, `provider_id`, `model_id` and `variant` are what it works with; empty for the default ones.
    `owner` is the worker that makes its worktree, since `time_claimed`. `doing` is what is measured of it
    now, `tries` how often that began. `error` is why there is no session, or how its turn ended.
    Measured of it are: `checks`, as a verdict of a goal has them; `tests`, the counts of the reports that
    its checks wrote (`passed`, `failed`, `skipped`), empty without one; errors that language servers find in
    the changed files, `problems_before` and `problems_after` (None: nobody looked); `files`, `additions` and
    `deletions`; `tokens`, `cost` (US dollars) and `worked` (ms), of its session and those below it.
    `words` are the judge's.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        MAKING = "making", "Making its worktree"
        RUNNING = "running", "Running"
        JUDGING = "judging", "Measured, and judges"
        MEASURED = "measured", "Measured"
        FAILED = "failed", "Not begun"

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    agent = models.CharField(max_length=64, blank=True)
    provider_id = models.CharField(max_length=128, blank=True)
    model_id = models.TextField(blank=True)
    variant = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    owner = models.CharField(max_length=64, blank=True)
    time_claimed = models.BigIntegerField(default=0)
    session = models.OneToOneField(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="attempt"
    )
    doing = models.TextField(blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)
    checks = models.JSONField(default=list)
    tests = models.JSONField(default=dict)
    problems_before = models.PositiveIntegerField(null=True, blank=True)
    problems_after = models.PositiveIntegerField(null=True, blank=True)
    files = models.PositiveIntegerField(default=0)
    additions = models.PositiveIntegerField(default=0)
    deletions = models.PositiveIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    cost = models.FloatField(default=0.0)
    worked = models.BigIntegerField(default=0)
    words = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["comparison", "number"], name="one_attempt_a_number")]
        ordering = ["number"]

    @property
    def ref(self) -> str:
        """Its model, `provider/model`; empty for the default one."""
        return f"{self.provider_id}/{self.model_id}" if self.model_id else ""

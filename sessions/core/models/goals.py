from __future__ import annotations

from django.db import models

from .conversation import Session


class Goal(models.Model):
    """What a session works at by itself until its finish line is reached (docs/goals.md).

    `checks` are lines (`agents.agent.goals.checks`). `tokens`, `cost` (US dollars), `turns` and `hours` are
    its budget, 0 for no end. `preset` is how much is asked while it is active, empty for as much as before;
    `before` is what the session had then. `judge` is a model, `provider/model`; empty for the small one,
    `none` for nobody. `actor` is who set it, where a server has people.
    `doing` is what its checks are at, `tries` how often they began since the last verdict. `after` is the
    message after which errors of turns count. `tokens_before` and `cost_before` are what the session and
    those below it had used when it began. `worked` are the milliseconds for which it was active before
    `time_active`, since when it is now.
    """

    class State(models.TextChoices):
        ACTIVE = "active", "Active"
        PAUSED = "paused", "Paused"
        DONE = "done", "Done"
        BLOCKED = "blocked", "Blocked"
        SPENT = "spent", "Budget spent"
        ENDED = "ended", "Ended"

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="goals")
    objective = models.TextField()
    checks = models.JSONField(default=list)
    tokens = models.BigIntegerField(default=0)
    cost = models.FloatField(default=0.0)
    turns = models.IntegerField(default=0)
    hours = models.FloatField(default=0.0)
    preset = models.CharField(max_length=16, blank=True)
    before = models.CharField(max_length=16, blank=True)
    judge = models.TextField(blank=True)
    actor = models.CharField(max_length=128, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE, db_index=True)
    reason = models.TextField(blank=True)
    doing = models.TextField(blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    after = models.CharField(max_length=32, blank=True)
    tokens_before = models.BigIntegerField(default=0)
    cost_before = models.FloatField(default=0.0)
    worked = models.BigIntegerField(default=0)
    time_active = models.BigIntegerField(null=True, blank=True)
    time_created = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["session", "id"], name="goal_in_order")]


class Verdict(models.Model):
    """What was found after a turn of a goal; `message_id` is the last one then.

    `checks` are what each gave: `check`, `passed`, `exit`, `output` (its end) and `time` (ms). `word` is the
    judge's (`go_on`, `done`, `blocked`, or empty where nobody judged), `words` its reason. `outcome` is what
    came of it, as a state of the goal or `go_on`, and `reason` why. `digest` is of what failed and what was
    changed by then; `stalled` is how many verdicts up to this one saw no progress. `tokens`, `cost` and
    `worked` (ms) were used by then.
    """

    goal = models.ForeignKey(Goal, on_delete=models.CASCADE, related_name="verdicts")
    number = models.PositiveIntegerField()
    message_id = models.CharField(max_length=32, blank=True)
    checks = models.JSONField(default=list)
    word = models.CharField(max_length=8, blank=True)
    words = models.TextField(blank=True)
    outcome = models.CharField(max_length=8)
    reason = models.TextField(blank=True)
    digest = models.CharField(max_length=64, blank=True)
    stalled = models.PositiveSmallIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    cost = models.FloatField(default=0.0)
    worked = models.BigIntegerField(default=0)
    time_created = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["goal", "number"], name="one_verdict_a_turn")]
        ordering = ["number"]

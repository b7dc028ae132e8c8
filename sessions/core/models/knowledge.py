from __future__ import annotations

from django.db import models

from .project import Project


class ProjectNote(models.Model):
    """What the people of a project write down beside it: a note, a plan, or a todo, which has no `text` and
    is `done` at some time. Worktrees have those of the project that they were made from. `actor` is who wrote
    it last, where a server has people."""

    class Kind(models.TextChoices):
        NOTE = "note", "Note"
        PLAN = "plan", "Plan"
        TODO = "todo", "Todo"

    id = models.CharField(primary_key=True, max_length=32)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="notes")
    kind = models.CharField(max_length=4, choices=Kind)
    title = models.TextField()
    text = models.TextField(blank=True)
    done = models.BooleanField(default=False)
    actor = models.CharField(max_length=128, blank=True)
    time_created = models.BigIntegerField()
    time_updated = models.BigIntegerField()

    class Meta:
        ordering = ["id"]

    @property
    def words(self) -> str:
        """All of it, for a prompt."""
        return f"{self.title}\n\n{self.text}" if self.text else self.title


class ProjectAction(models.Model):
    """A command of a project with a name, to be run by a button."""

    id = models.CharField(primary_key=True, max_length=32)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="actions")
    name = models.CharField(max_length=40)
    command = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_action_a_name")]
        ordering = ["id"]

from __future__ import annotations

from django.db import models

from .labels import Label
from .project import Project


class SessionFolder(models.Model):
    """A place in the list of a project's sessions that a person made: a session is in one at most, and stays
    in it when it is archived. A label is not that: a session has several, and one goes with the last session
    that has it. `position` is its place among the others, `folded`: only its name is shown."""

    id = models.CharField(primary_key=True, max_length=32)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="session_folders")
    name = models.CharField(max_length=40)
    colour = models.CharField(max_length=8, choices=Label.Colour)
    position = models.BigIntegerField()
    folded = models.BooleanField(default=False)

    class Meta:
        ordering = ["position", "id"]

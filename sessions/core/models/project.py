from __future__ import annotations

from typing import Any, Self

from django.db import models
from django.urls import reverse

from sessions.core.platform import search_path


class Project(models.Model):
    """A folder that was opened. `root_commit` recognises a git repository that moved. `worktree_of` is the
    project that a git worktree was made from. `icon` (`url`, `override`, `color`) and `commands` (`start`:
    run in a new worktree) are what clients of the protocol keep with it. `keep_ignored` is how many megabytes
    of files that git ignores are kept for undo (None: as configured)."""

    id = models.CharField(primary_key=True, max_length=40)
    worktree = models.TextField(unique=True)
    name = models.TextField(blank=True)
    vcs = models.CharField(max_length=8, blank=True)
    root_commit = models.CharField(max_length=64, blank=True)
    worktree_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="worktrees"
    )
    icon = models.JSONField(default=dict, blank=True)
    commands = models.JSONField(default=dict, blank=True)
    keep_ignored = models.PositiveIntegerField(null=True, blank=True)
    time_created = models.BigIntegerField()
    time_updated = models.BigIntegerField(db_index=True)

    @classmethod
    def from_db(cls, *row: Any, **named: Any) -> Self:
        """Who knows of a project runs no program of its own that lies in it."""
        project = super().from_db(*row, **named)
        if "worktree" in project.__dict__:  # not deferred
            search_path.leave_out(project.worktree)
        return project

    def save(self, *arguments: Any, **named: Any) -> None:
        search_path.leave_out(self.worktree)
        super().save(*arguments, **named)

    def __str__(self) -> str:
        return self.worktree

    def get_absolute_url(self) -> str:
        return reverse("project", args=(self.id,))

from __future__ import annotations

from django.db import models

from .ledger import PathField
from .project import Project


class FileProblems(models.Model):
    """What a language server last said of a content of a file: the problems (`core.store.problems`) that
    it found in it. `path` is relative to the worktree, `content` an address of the object store.
    `standing`: the server has not taken it back since, because of another file or of a new start."""

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="problems")
    path = PathField()
    content = models.CharField(max_length=64)
    server = models.TextField()
    problems = models.JSONField(default=list)
    standing = models.BooleanField(default=True)
    time_updated = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "path", "content", "server"], name="problems_of_one_content"
            )
        ]
        indexes = [models.Index(fields=["time_updated"], name="problems_by_time")]

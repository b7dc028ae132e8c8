from __future__ import annotations

from django.db import models


class OwnProgram(models.Model):
    """A program of the person of this server that opens folders and files: `command` is its line, with
    `{path}` and `{line}` in it."""

    name = models.CharField(primary_key=True, max_length=40)
    command = models.TextField()

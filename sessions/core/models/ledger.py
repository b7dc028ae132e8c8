from __future__ import annotations

import os
from typing import Any

from django.db import models
from django.utils.translation.trans_null import gettext_noop

from .conversation import Session
from .project import Project


def pack_path(path: str) -> str:
    """A relative path as text any database takes: bytes that are not UTF-8 (surrogate escapes in Python) make
    it `//` + Latin-1. No relative path begins with `//`, so the two cannot be confused."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "//" + os.fsencode(path).decode("latin-1")
    return path


def unpack_path(packed: str) -> str:
    """The path that `pack_path` made this of."""
    return os.fsdecode(packed[2:].encode("latin-1")) if packed.startswith("//") else packed


def shown(path: str) -> str:
    """A path as text that can go over the wire: bytes that are not UTF-8 become replacement characters."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class PathField(models.TextField):  # type: ignore[type-arg]
    """A relative path, kept as `pack_path` writes it."""

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(pack_path(value) if isinstance(value, str) else value)

    def from_db_value(self, value: Any, *_: Any) -> Any:
        return unpack_path(value) if value else value


class Operation(models.Model):
    """What a person did to files or staged edits by the app, noted before files are touched.

    `outcome` lists what came of each file (`sessions.core.store.operations`). `scope` is what was looked at,
    `hunks` what it was done to (path, key, line, removed and added text), `words` what the person said to the
    agent with it, `actor` who did it; `of` is the operation that it takes back.
    """

    class Kind(models.TextChoices):
        """An undo of the conversation from a message on and its redo; an undo of hunks, files or a scope, and
        what takes an operation back; a verdict on staged edits (write them to the working tree, let go of
        them), and what takes that back; what a person did to files by hand."""

        REVERT = "revert", gettext_noop("Undo of a part of the conversation")
        UNREVERT = "unrevert", gettext_noop("Redo of a part of the conversation")
        UNDO = "undo", gettext_noop("Undo")
        REDO = "redo", gettext_noop("Redo")
        KEEP = "keep", gettext_noop("Kept staged edits")
        DROP = "drop", gettext_noop("Dropped staged edits")
        RESTAGE = "restage", gettext_noop("Staged again")
        EDIT = "edit", gettext_noop("Edit by hand")

    class State(models.TextChoices):
        """Planned until every file was dealt with, done while it can be taken back, closed when it was. A new
        prompt makes an undo of the conversation final. Withdrawn: a crash came before the first file."""

        PLANNED = "planned", gettext_noop("Being carried out")
        DONE = "done", gettext_noop("In effect")
        CLOSED = "closed", gettext_noop("Taken back")
        FINAL = "final", gettext_noop("Final: a new prompt followed")
        WITHDRAWN = "withdrawn", gettext_noop("Cut short by a crash; no file was changed")

    id = models.CharField(primary_key=True, max_length=32)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="operations")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="operations")
    kind = models.CharField(max_length=16, choices=Kind)
    state = models.CharField(max_length=16, choices=State)
    message_id = models.CharField(max_length=32, blank=True)
    part_id = models.CharField(max_length=32, blank=True)
    outcome = models.JSONField(default=list)
    of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="taken_back_by"
    )
    scope = models.JSONField(default=dict)
    hunks = models.JSONField(default=list)
    words = models.TextField(blank=True)
    actor = models.CharField(max_length=128, blank=True)
    time_created = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["session", "kind", "state"], name="operation_by_session")]


class FileChange(models.Model):
    """The ledger: every change of a file made through this app, with content before and after.

    `before` and `after` are addresses in the project's object store, empty when the file did not
    exist; modes are those of `st_mode`. `path` is relative to the worktree. `operation` is set when an
    undo or redo made the change, `undone_by` when an undo took it back and it no longer counts. `skipped`
    says why a content is unknown (a file too large to keep); `new_folders` is how many parent folders the
    change made. `for_…` name the call which a subagent made the change for, in the topmost session above
    its own: the change is part of that turn as well. `origin` says what wrote the file, empty for a tool.
    """

    class Origin(models.TextChoices):
        """A tool; a command, or one of several that ran at the same time; a formatter; a person who kept a
        staged edit; an operation."""

        EDIT = "edit", gettext_noop("Edit")
        COMMAND = "command", gettext_noop("Shell")
        OVERLAP = "overlap", gettext_noop("Shell")
        FORMATTER = "formatter", gettext_noop("Formatter")
        KEPT = "kept", gettext_noop("Kept")
        UNDO = "undo", gettext_noop("Undo")

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="changes")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="changes")
    operation = models.ForeignKey(
        Operation, null=True, blank=True, on_delete=models.CASCADE, related_name="changes"
    )
    undone_by = models.ForeignKey(
        Operation, null=True, blank=True, on_delete=models.SET_NULL, related_name="took_back"
    )
    message_id = models.CharField(max_length=32, blank=True)
    part_id = models.CharField(max_length=32, blank=True)
    call_id = models.CharField(max_length=128, blank=True)
    for_session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="changes_below"
    )
    for_message_id = models.CharField(max_length=32, blank=True)
    for_part_id = models.CharField(max_length=32, blank=True)
    origin = models.CharField(max_length=16, blank=True, choices=Origin)
    path = PathField()
    before = models.CharField(max_length=64, blank=True)
    after = models.CharField(max_length=64, blank=True)
    mode_before = models.IntegerField(null=True, blank=True)
    mode_after = models.IntegerField(null=True, blank=True)
    skipped = models.TextField(blank=True)
    new_folders = models.IntegerField(default=0)
    time_created = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["session", "message_id"], name="change_by_message"),
            models.Index(fields=["for_session", "for_message_id"], name="change_by_errand"),
            models.Index(fields=["project", "path"], name="change_by_path"),
        ]

from __future__ import annotations

from django.db import models


class Node(models.Model):
    """A machine of a team. `start` counts its starts, so that one that was taken for dead is told from the
    one in its place. `seen` is its last beat (ms), by the database's clock, `load` what it does (`turns`).
    With `draining` no turn begins there."""

    name = models.CharField(primary_key=True, max_length=40)
    address = models.TextField()
    version = models.CharField(max_length=40)
    start = models.BigIntegerField(default=0)
    seen = models.BigIntegerField(default=0)
    load = models.JSONField(default=dict)
    draining = models.BooleanField(default=False)
    time_joined = models.BigIntegerField()

    objects: models.Manager[Node] = models.Manager()

    def __str__(self) -> str:
        return self.name


class Workspace(models.Model):
    """A project at a node. `epoch` counts the machines that had it, one after the other; one that goes on at
    another node is `closed` here since `time_closed` (ms): at `successor`, as the project `heir`. `parked` is
    the newest state that is parked (`parking.manifest`), of `time_parked` (ms), and `problem` why the last
    try failed. `moving`: a person moves it elsewhere, so its turns are `held`; its node is `asked` to park
    it, then it is `parked`."""

    node = models.CharField(max_length=40)
    project = models.CharField(max_length=40)
    path = models.TextField()
    name = models.TextField(blank=True)
    epoch = models.BigIntegerField(default=1)
    closed = models.BooleanField(default=False)
    successor = models.CharField(max_length=40, blank=True)
    heir = models.CharField(max_length=40, blank=True)
    time_closed = models.BigIntegerField(default=0)
    time_parked = models.BigIntegerField(default=0)
    parked = models.JSONField(default=dict)
    problem = models.TextField(blank=True)
    moving = models.CharField(max_length=8, blank=True)

    objects: models.Manager[Workspace] = models.Manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "project"], name="one_workspace_a_project")]

    def __str__(self) -> str:
        return f"{self.node}:{self.path}"


class Invitation(models.Model):
    """That a machine may join, once, until `time_expires` (ms, the database's); `digest` is of the token."""

    digest = models.CharField(primary_key=True, max_length=64)
    time_expires = models.BigIntegerField()

    objects: models.Manager[Invitation] = models.Manager()

    def __str__(self) -> str:
        return self.digest[:8]

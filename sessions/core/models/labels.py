from __future__ import annotations

from django.db import models

from .conversation import Session


class Label(models.Model):
    """A word in a colour that sessions have, to be told apart by it. One that no session has is no more."""

    class Colour(models.TextChoices):
        RED = "red"
        AMBER = "amber"
        GREEN = "green"
        BLUE = "blue"
        VIOLET = "violet"
        GREY = "grey"

    name = models.CharField(primary_key=True, max_length=40)
    colour = models.CharField(max_length=8, choices=Colour)
    sessions = models.ManyToManyField(Session, related_name="labels")

    class Meta:
        ordering = ["name"]

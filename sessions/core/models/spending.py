from __future__ import annotations

from django.db import models


class Spending(models.Model):
    """What the turns of a person cost on a day (`2027-01-31`), in US dollars; `actor` is their name."""

    actor = models.CharField(max_length=128)
    day = models.CharField(max_length=10)
    cost = models.FloatField(default=0.0)

    objects: models.Manager[Spending] = models.Manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["actor", "day"], name="one_spending_a_day")]

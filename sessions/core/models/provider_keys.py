from __future__ import annotations

from django.db import models

from .conversation import Message


class ProviderKey(models.Model):
    """A key of a provider that somebody added for their own turns (`person` is their name), or for all turns
    in a `project`; one of the two is set. `sealed` is the key, encrypted (`sessions.core.sealing`), `ending`
    what is shown of it."""

    person = models.CharField(max_length=128, blank=True)
    project = models.CharField(max_length=40, blank=True)
    provider = models.CharField(max_length=300)
    sealed = models.TextField()
    ending = models.CharField(max_length=4, blank=True)
    time_created = models.BigIntegerField()

    objects: models.Manager[ProviderKey] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "project", "provider"], name="one_key_a_provider")
        ]


class Payment(models.Model):
    """Whose key paid for an answer, in words; where there is none it was the installation's."""

    message = models.OneToOneField(
        Message, primary_key=True, on_delete=models.CASCADE, related_name="payment"
    )
    whose = models.CharField(max_length=160)

    objects: models.Manager[Payment] = models.Manager()

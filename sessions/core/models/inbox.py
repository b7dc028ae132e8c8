from __future__ import annotations

from django.db import models

from .conversation import Session


class AdmittedPrompt(models.Model):
    """A durable user input not yet in Session History. Promotion deletes the row.

    `id` is the id its user message will have; `parts` are the wire's prompt parts, `format` its OutputFormat.
    `position` rises within a session, `delivery` is `steer` or `queue`. With `no_reply` it becomes a message
    that asks for no answer; without `resume` it waits until something else wakes the session.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="inbox")
    position = models.BigIntegerField()
    delivery = models.CharField(max_length=8, default="queue")
    agent = models.CharField(max_length=64, blank=True)
    provider_id = models.CharField(max_length=128, blank=True)
    model_id = models.TextField(blank=True)
    variant = models.CharField(max_length=64, blank=True)
    system = models.TextField(blank=True)
    tools = models.JSONField(default=dict)
    format = models.JSONField(null=True, blank=True)
    parts = models.JSONField()
    no_reply = models.BooleanField(default=False)
    resume = models.BooleanField(default=True)
    time_created = models.BigIntegerField()

    class Meta:
        ordering = ["position", "id"]


class Admission(models.Model):
    """That a prompt was admitted, for ever: a client that sends it again gets the same answer.

    `id` is the prompt's, `digest` of its content. `no_reply`: it asks for no answer. `stopped` are the parts
    of a prompt that was stopped before the model was asked, until a person takes them back or lets them go.
    """

    id = models.CharField(primary_key=True, max_length=32)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="admissions")
    digest = models.CharField(max_length=64)
    no_reply = models.BooleanField(default=False)
    stopped = models.JSONField(null=True, blank=True)
    time_created = models.BigIntegerField()

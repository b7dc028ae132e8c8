from __future__ import annotations

from django.db import models


class SavedSearch(models.Model):
    """What the person of this server looks for again and again, words and filters as they are typed."""

    text = models.CharField(primary_key=True, max_length=500)
    time_created = models.BigIntegerField()


class SavedView(models.Model):
    """A filter of the overview that a person keeps, as the query of its address."""

    query = models.CharField(primary_key=True, max_length=500)
    time_created = models.BigIntegerField()

"""Texts that a person puts into prompts by their names."""

from __future__ import annotations

import re

from django.db import transaction
from django.utils.translation import gettext

from sessions.core.ids import now
from sessions.core.models import Snippet
from sessions.core.sentences import grouped

LONGEST = 100_000
"""Characters of a text."""
_NAME = re.compile(r"[\w-]{1,40}")


class Refused(ValueError):
    """It cannot be saved; the text is for the person who wrote it."""


def named(query: str = "") -> list[Snippet]:
    """Those whose name has it, by name, those that begin with it first."""
    rows = Snippet.objects.filter(name__icontains=query)
    return sorted(rows, key=lambda row: (not row.name.lower().startswith(query.lower()), row.name.lower()))


@transaction.atomic
def save(name: str, text: str, *, before: str = "") -> Snippet:
    """A new one, or in the place of the one that had the name `before`. Raises Refused."""
    if not _NAME.fullmatch(name):
        raise Refused(gettext("A name has up to 40 letters, digits, - and _, and no spaces."))
    if not text.strip() or len(text) > LONGEST:
        raise Refused(
            gettext("A snippet may have %(longest)s characters.") % {"longest": grouped(LONGEST)}
            if text.strip()
            else gettext("Write a text first.")
        )
    if name != before and Snippet.objects.filter(name=name).exists():
        raise Refused(gettext("There is a snippet ;%(name)s already.") % {"name": name})
    if before and before != name:
        Snippet.objects.filter(name=before).delete()
    row, _ = Snippet.objects.update_or_create(name=name, defaults={"text": text, "time_updated": now()})
    return row


@transaction.atomic
def remove(name: str) -> Snippet | None:
    """What it was; None for none."""
    row = Snippet.objects.filter(name=name).first()
    if row is not None:
        Snippet.objects.filter(name=name).delete()
    return row

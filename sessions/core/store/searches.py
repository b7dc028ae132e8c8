"""Searches over conversations that a person keeps."""

from __future__ import annotations

from sessions.core.ids import now
from sessions.core.models import SavedSearch


def saved() -> list[str]:
    """Their texts, the newest first."""
    return list(SavedSearch.objects.order_by("-time_created", "text").values_list("text", flat=True))


def keep(text: str) -> None:
    """What is kept already stays where it is."""
    SavedSearch.objects.get_or_create(text=text, defaults={"time_created": now()})


def forget(text: str) -> None:
    SavedSearch.objects.filter(text=text).delete()

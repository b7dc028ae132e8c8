"""Searches over conversations, and views of the overview, that a person keeps."""

from __future__ import annotations

from sessions.core.ids import now
from sessions.core.models import SavedSearch, SavedView


def saved() -> list[str]:
    """Their texts, the newest first."""
    return list(SavedSearch.objects.order_by("-time_created", "text").values_list("text", flat=True))


def keep(text: str) -> None:
    """What is kept already stays where it is."""
    SavedSearch.objects.get_or_create(text=text, defaults={"time_created": now()})


def forget(text: str) -> None:
    SavedSearch.objects.filter(text=text).delete()


def views() -> list[str]:
    """The filters of the overview that are kept, the oldest first."""
    return list(SavedView.objects.order_by("time_created", "query").values_list("query", flat=True))


def keep_view(query: str) -> None:
    """What is kept already stays where it is."""
    SavedView.objects.get_or_create(query=query, defaults={"time_created": now()})


def forget_view(query: str) -> None:
    SavedView.objects.filter(query=query).delete()

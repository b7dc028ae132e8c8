"""The timeline room's URLs; the pages' include them."""

from __future__ import annotations

from django.urls import path

from . import pages

_TIMELINE = "p/<str:project_id>/s/<str:session_id>/timeline"

urlpatterns = [
    path(_TIMELINE, pages.whole),
    path(f"{_TIMELINE}/moments", pages.moments),
    path(f"{_TIMELINE}/at", pages.at),
    path(f"{_TIMELINE}/point", pages.opened),
    path(f"{_TIMELINE}/review/file", pages.file),
    path(f"{_TIMELINE}/review/image/<str:oid>", pages.image),
]

"""The review room's URLs; the pages' include them."""

from __future__ import annotations

from django.urls import path

from . import pages

_SESSION = "p/<str:project_id>/s/<str:session_id>"

urlpatterns = [
    path(f"{_SESSION}/review", pages.panel),
    path(f"{_SESSION}/review/file", pages.file),
    path(f"{_SESSION}/undo/<str:message_id>", pages.undo),
    path(f"{_SESSION}/redo", pages.redo),
    path("permissions/<str:request_id>/reply", pages.reply),
]

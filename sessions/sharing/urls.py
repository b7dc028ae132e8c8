"""The shared page, and the dialog of a session."""

from __future__ import annotations

from django.urls import path

from . import pages

SESSION = "p/<str:project_id>/s/<str:session_id>"

urlpatterns = [
    path("s/<str:token>", pages.shared),
    path(f"{SESSION}/share", pages.dialog),
    path(f"{SESSION}/share/begin", pages.share),
    path(f"{SESSION}/share/end", pages.unshare),
]

"""The page of an import."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("import", pages.start),
    path("import/found", pages.found),
    path("import/begin", pages.begin),
    path("import/progress", pages.progress),
    path("import/cancel", pages.cancel),
    path("import/again", pages.again),
]

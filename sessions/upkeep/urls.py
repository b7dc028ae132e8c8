"""The URLs of this room; the pages' include them."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("settings", pages.settings),
    path("settings/damage/dismiss", pages.dismiss_damage),
    path("settings/store/clean", pages.clean),
    path("settings/store/<str:project_id>", pages.project),
]

"""The worktrees room's URLs; the pages' include them."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [path("worktrees/<str:project_id>/remove", pages.removal)]

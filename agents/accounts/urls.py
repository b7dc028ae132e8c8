"""The URLs of the page of accounts."""

from __future__ import annotations

from django.urls import path

from agents.accounts import pages

urlpatterns = [
    path("accounts", pages.accounts),
    path("accounts/key", pages.key),
    path("accounts/begin", pages.begin),
    path("accounts/waiting", pages.waiting),
    path("accounts/cancel", pages.cancel),
    path("accounts/forget", pages.forget),
]

"""The URLs of the page of servers, as far as they are about languages."""

from __future__ import annotations

from django.urls import path

from agents.lsp.pages import acts, views

urlpatterns = [
    path("servers/languages", views.languages),
    path("servers/languages/log", views.log),
    path("servers/languages/more", views.more),
    path("servers/languages/switch", acts.switch),
    path("servers/languages/retry", acts.retry),
    path("servers/languages/install", acts.install),
]

"""The URLs of the page of servers, as far as they are about MCP."""

from __future__ import annotations

from django.urls import path

from agents.mcp.pages import acts, editing, signing, views

urlpatterns = [
    path("servers", views.servers),
    path("servers/badge", views.badge),
    path("servers/mcp/list", views.listing),
    path("servers/mcp/detail", views.detail),
    path("servers/mcp/schema", views.schema),
    path("servers/mcp/resource", views.resource),
    path("servers/mcp/log", views.log),
    path("servers/mcp/switch", acts.switch),
    path("servers/mcp/restart", acts.restart),
    path("servers/mcp/try", acts.test),
    path("servers/mcp/removal", acts.removal),
    path("servers/mcp/remove", acts.remove),
    path("servers/mcp/sign-in", signing.sign_in),
    path("servers/mcp/cancel", signing.cancel),
    path("servers/mcp/sign-out", signing.sign_out),
    path("servers/mcp/form", editing.form),
    path("servers/mcp/words", editing.words),
    path("servers/mcp/test", editing.test),
    path("servers/mcp/save", editing.save),
]

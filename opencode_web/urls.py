"""The pages, the pickers of the agents, and the health check. OpenCode's API: `api_urls`."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.urls import include, path

from agents.mcp.oauth.callback import callback
from sessions.store.sessions import VERSION


async def health(_: HttpRequest) -> JsonResponse:
    """`/global/health` of OpenCode; answered without loading the rest of the API."""
    return JsonResponse({"healthy": True, "version": VERSION})


urlpatterns = [
    path("global/health", health),
    path("pickers/", include("agents.urls")),
    path("", include("agents.accounts.urls")),
    path("", include("agents.mcp.pages.urls")),
    path("", include("agents.lsp.pages.urls")),
    path("mcp/oauth/callback", callback),
    path("", include("sessions.pages.urls")),
]

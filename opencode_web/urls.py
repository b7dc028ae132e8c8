"""The pages, the pickers of the agents, and the health check. OpenCode's API: `api_urls`."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.urls import include, path

from sessions.core.store.sessions import VERSION


async def health(_: HttpRequest) -> JsonResponse:
    """`/global/health` of OpenCode; answered without loading the rest of the API."""
    return JsonResponse({"healthy": True, "version": VERSION})


urlpatterns = [
    path("global/health", health, name="health"),
    path("", include("agents.web.urls")),
    path("", include("sessions.web.urls")),
]

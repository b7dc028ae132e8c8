"""OpenCode's API. Loaded at its first request, not at start: the page must answer before (design law 10)."""

from __future__ import annotations

from django.urls import path
from ninja import NinjaAPI

import opencode_web
from agents.api import router as agents_router
from sessions.api import conversations, files, prompts, requests, stream
from sessions.api.base import add_error_shapes

api = NinjaAPI(
    title="opencode-web",
    version=opencode_web.__version__,
    docs_url=None,
    openapi_url=None,
    urls_namespace="api",
)
add_error_shapes(api)
api.add_router("/session", conversations.router)
api.add_router("/session", prompts.router)
api.add_router("/permission", requests.router)
api.add_router("", files.router)
api.add_router("", agents_router)

urlpatterns = [path("event", stream.events), path("", api.urls)]

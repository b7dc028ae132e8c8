"""OpenCode's API. Loaded at its first request, not at start: the page must answer before (design law 10)."""

from __future__ import annotations

from django.urls import path
from ninja import NinjaAPI

import opencode_web
from agents.api import router as agents_router
from agents.commands import api as commands
from agents.skills import api as skills
from sessions.api import conversations, files, prompts, questions, requests, stream
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
api.add_router("/session", requests.session_router)
api.add_router("/question", questions.router)
api.add_router("", files.router)
api.add_router("", agents_router)
api.add_router("/session", commands.session_router)
api.add_router("", commands.router)
api.add_router("", skills.router)

urlpatterns = [path("event", stream.events), path("", api.urls)]

"""The operations under `/api`; loaded at the first request for one of them."""

from __future__ import annotations

from django.urls import path
from ninja import NinjaAPI

import opencode_web
from agents.accounts import api_v2 as accounts
from agents.api import v2 as agents
from sessions.api.v2 import messages, places, requests, sessions, stream
from sessions.api.v2.base import add_error_shapes
from sessions.terminals import api_v2 as terminals

api = NinjaAPI(
    title="opencode-web",
    version=opencode_web.__version__,
    docs_url=None,
    openapi_url=None,
    urls_namespace="api-v2",
)
add_error_shapes(api)
for _prefix, _module in (
    ("/session", sessions),
    ("/session", messages),
    ("/pty", terminals),
    ("", requests),
    ("", stream),
    ("", places),
    ("", agents),
    ("", accounts),
):
    api.add_router(_prefix, _module.router)

urlpatterns = [path("api/", api.urls)]

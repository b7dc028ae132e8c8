"""The operations under `/api`; loaded at the first request for one of them."""

from __future__ import annotations

from opencode_web.site import lean_api  # noqa: F401  # brings ninja: first

# isort: split
from django.urls import path
from ninja import NinjaAPI

import opencode_web
from agents.api import accounts_v2 as accounts
from agents.api import asking
from agents.api import v2 as agents
from sessions.api.base import StrictParser
from sessions.api.v2 import (
    messages,
    places,
    prompting,
    questions,
    requests,
    reverting,
    sessions,
    stream,
    terminals,
)
from sessions.api.v2.base import add_error_shapes

api = NinjaAPI(
    parser=StrictParser(),
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
    ("/session", prompting),
    ("/session", reverting),
    ("/pty", terminals),
    ("", requests),
    ("", questions),
    ("", stream),
    ("", places),
    ("", agents),
    ("", accounts),
):
    api.add_router(_prefix, _module.router)

requests.judged_by(asking.judge)

handler404 = "opencode_web.site.document.unknown"
handler500 = "opencode_web.site.document.failed"
urlpatterns = [path("api/", api.urls)]

"""OpenCode's API. Loaded at its first request, not at start: the page must answer before."""

from __future__ import annotations

from opencode_web.site import lean_api  # noqa: F401  # brings ninja: first

# isort: split
from django.urls import path
from ninja import NinjaAPI

import opencode_web
from agents.api import (
    accounts,
    commands,
    comparisons,
    config,
    goals,
    mcp,
    providers,
    schedules,
    servers,
    skills,
    symbols,
    tools,
)
from opencode_web.site import document
from sessions.api import (
    conversations,
    experimental,
    files,
    global_sessions,
    messages,
    process,
    projects,
    prompts,
    questions,
    requests,
    search,
    sharing,
    stream,
    sync,
    terminals,
    tui,
    vcs,
    worktrees,
)
from sessions.api.base import StrictParser, add_error_shapes

api = NinjaAPI(
    parser=StrictParser(),
    title="opencode-web",
    version=opencode_web.__version__,
    docs_url=None,
    openapi_url=None,
    urls_namespace="api",
)
add_error_shapes(api)
for _prefix, _module in (
    ("/session", conversations),
    ("/session", prompts),
    ("/session", messages),
    ("/session", sharing),
    ("/session", goals),
    ("/comparison", comparisons),
    ("/permission", requests),
    ("/question", questions),
    ("/project", projects),
    ("/schedule", schedules),
    ("/sync", sync),
    ("/tui", tui),
    ("/pty", terminals),
    ("/experimental/worktree", worktrees),
    ("/experimental", experimental),
    ("/experimental", global_sessions),
    ("/experimental", tools),
    ("", accounts),
    ("", commands),
    ("", config),
    ("", files),
    ("", mcp),
    ("", process),
    ("", providers),
    ("", search),
    ("", servers),
    ("", skills),
    ("", stream),
    ("", symbols),
    ("", vcs),
):
    api.add_router(_prefix, _module.router)
for _session_router in (requests.session_router, commands.session_router):
    api.add_router("/session", _session_router)

handler404 = "opencode_web.site.document.unknown"
handler500 = "opencode_web.site.document.failed"
urlpatterns = [
    path("doc", document.view),
    path("", api.urls),
]

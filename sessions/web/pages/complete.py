"""What the composer completes itself: `@` files of the project, `/` commands of the browser.

Agents after `@` and commands that become prompts come from the agents' room, pulled by the browser.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions.project import search
from sessions.web.access import project_of, session_of
from sessions.web.respond import fragment

MOST_SHOWN = 12

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Command:
    """`shortcut` names the keys that do the same (`sessions.web.shortcuts`)."""

    name: str
    description: str
    icon: str
    shortcut: str = ""


COMMANDS = (
    Command("new", "Start a new session", "plus"),
    Command("undo", "Undo the last message and what it changed", "undo"),
    Command("redo", "Bring back what was undone", "redo"),
    Command("rename", "Rename this session", "edit"),
    Command("stop", "Stop the running turn", "stop", "stop"),
    Command("compact", "Sum up the conversation to free the model's context", "layers"),
    Command("models", "Choose the model", "think", "models"),
    Command("agents", "Choose the agent", "spark"),
    Command("mode", "Choose how much is asked", "shield"),
    Command("changes", "Show or hide the changed files", "panel"),
    Command("problems", "What language servers find wrong", "alert", "problems"),
    Command("review-mode", "Hold edits back until you keep them, or no longer", "layers"),
    Command("fork", "Go on from here in a new session", "fork"),
    Command("timeline", "What happened, and the files at any point of it", "clock"),
    Command("search", "Search in all that was said", "search", "search"),
    Command("permissions", "The saved permission rules of this project", "shield"),
    Command("mcp", "MCP servers and language servers: how they stand, and setting them up", "plug"),
    Command("inbox", "What waits for your answer, in all sessions", "bell", "inbox"),
    Command("log", "Every change made to the project, and how to take it back", "list"),
    Command("export", "Download the conversation", "file"),
    Command("share", "Share the conversation by a secret address", "share"),
    Command("help", "Keys and commands", "ask", "help"),
)
"""Each is carried out in the browser by static/js/commands.js."""


@require_GET
async def commands(request: HttpRequest, project_id: str, session_id: str = "") -> HttpResponse:
    query = request.GET.get("q", "").lower()
    found = [command for command in COMMANDS if query in command.name]
    found.sort(key=lambda command: not command.name.startswith(query))
    return fragment("composer/options.html", commands=found)


@require_GET
async def files(request: HttpRequest, project_id: str, session_id: str = "") -> HttpResponse:
    if session_id:
        directory = (await session_of(project_id, session_id)).directory
    else:
        directory = (await project_of(project_id)).worktree
    try:
        found = await search.find_files(Path(directory), request.GET.get("q", ""), limit=MOST_SHOWN)
    except search.SearchFailed as problem:
        log.warning("no files to complete: %s", problem)
        found = []
    return fragment("composer/options.html", files=found)

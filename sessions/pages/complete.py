"""What the composer completes: `@` files of the project, `/` commands."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sysconfig
from asyncio.subprocess import DEVNULL, PIPE
from dataclasses import dataclass
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from .access import project_of, session_of
from .respond import fragment

MOST_FILES = 100_000
MOST_SHOWN = 12
PATIENCE = 3.0
NO_MATCH = 4


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    description: str


COMMANDS = (
    Command("new", "Start a new session"),
    Command("undo", "Undo the last message and what it changed"),
    Command("redo", "Bring back what was undone"),
    Command("rename", "Rename this session"),
    Command("stop", "Stop the running turn"),
    Command("review", "Show or hide the changed files"),
    Command("help", "Keys and commands"),
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
    names = await listed(Path(directory))
    found = await asyncio.to_thread(best, names, request.GET.get("q", ""))
    return fragment("composer/options.html", files=found)


async def listed(directory: Path) -> list[str]:
    """The project's files less the ignored ones, at most MOST_FILES, as far as PATIENCE goes."""
    try:
        process = await asyncio.create_subprocess_exec(
            _ripgrep(), "--files", "--null", "--hidden", "--glob", "!.git", cwd=directory,
            stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL,
        )  # fmt: skip
    except OSError:
        return []
    assert process.stdout is not None
    found = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            while (piece := await process.stdout.read(1 << 16)) and found.count(0) < MOST_FILES:
                found += piece
    except TimeoutError:
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return found.decode("utf-8", "replace").split("\0")[:-1]


def _ripgrep() -> str:
    return shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg") or "rg"


def best(names: list[str], query: str) -> list[str]:
    """The names that contain the query's characters in order; matches in the file's own name first."""
    query = query.lower()
    scored = [(_score(name.lower(), query), len(name), name) for name in names]
    return [name for score, _, name in sorted(scored)[:MOST_SHOWN] if score < NO_MATCH]


def _score(name: str, query: str) -> int:
    """Lower is better."""
    own = name.rsplit("/", 1)[-1]
    if own.startswith(query):
        return 0
    if query in own:
        return 1
    if query in name:
        return 2
    letters = iter(name)
    return 3 if all(letter in letters for letter in query) else NO_MATCH

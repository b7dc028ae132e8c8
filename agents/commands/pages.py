"""The composer's commands: what `/` completes, and sending one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from agents.commands.admission import admit, checked, typed
from agents.commands.listing import Command, UnknownCommand, commands
from agents.commands.template import MissingArgument
from agents.configuration import load
from sessions.db import in_db
from sessions.models import Project, Session
from sessions.pages.access import located
from sessions.pages.prompts import BadPrompt, choice_of, parts_of
from sessions.pages.respond import done, fragment, redirect, refused
from sessions.sharing.sharing import share_new
from sessions.store import sessions as session_store
from sessions.store.inbox import PromptRefused
from sessions.wire.session import SessionModel

MOST_SHOWN = 20


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """The commands of `?session=` or `?project=` whose name has `?q=` in it, those that begin so first."""
    directory, _, _ = await located(request.GET)
    query = request.GET.get("q", "").lower()
    known = await asyncio.to_thread(_commands, directory)
    found = [command for command in known if query in command.name.lower()]
    found.sort(key=lambda command: (not command.name.lower().startswith(query), command.name))
    return render(request, "pickers/commands.html", {"commands": found[:MOST_SHOWN]})


def _commands(directory: Path) -> list[Command]:
    return list(commands(directory, load(directory).config).values())


@require_POST
async def send(request: HttpRequest) -> HttpResponse:
    """Admit `name` with `arguments` as a prompt of `session`, or of a new session of `project`.

    404 when there is no such command: the composer then sends the text as a prompt.
    """
    form = request.POST
    directory, session, project = await located(form)
    name, arguments = form.get("name", ""), form.get("arguments", "").replace("\r\n", "\n")
    try:
        given, files = choice_of(form), _files(form, typed(name, arguments))
        choice = await checked(directory, name, arguments)
    except UnknownCommand as error:
        return fragment("fragments/refused.html", status=404, message=str(error))
    except (BadPrompt, MissingArgument) as problem:
        return refused(str(problem))
    target = session or await _new_session(request, project, directory, given)
    try:
        await admit(target, name, arguments, choice, files, **given)
    except PromptRefused as problem:
        return refused(str(problem))
    return done() if session else redirect(f"/p/{project.id}/s/{target.id}")


def _files(form: QueryDict, text: str) -> list[dict[str, Any]]:
    """What is attached and mentioned, as for any prompt. Raises BadPrompt."""
    prompt = form.copy()
    prompt["text"] = text
    return [part for part in parts_of(prompt) if part["type"] != "text"]


async def _new_session(
    request: HttpRequest, project: Project, directory: Path, given: dict[str, str]
) -> Session:
    """What was picked beside the prompt is the choice of the session; the command's own is not."""
    model = None
    if given.get("model_id"):
        variant = given.get("variant") or None
        model = SessionModel(id=given["model_id"], provider_id=given["provider_id"], variant=variant)
    created = await in_db(
        session_store.create, project, str(directory), agent=given.get("agent", ""), model=model
    )
    return await share_new(request, created.id, created.directory) or created

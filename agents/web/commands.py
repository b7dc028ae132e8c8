"""The composer's commands: what `/` completes, sending one, and running a line of the shell."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.agent import shell
from agents.agent.commands.admission import admit, checked, typed
from agents.agent.commands.listing import Command, UnknownCommand, commands
from agents.config.configuration import load
from agents.toolkit.template import MissingArgument
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.sharing import share_new
from sessions.core.store import sessions as session_store
from sessions.core.store.inbox import PromptRefused, session_of
from sessions.core.wire.session import SessionModel
from sessions.web.access import located
from sessions.web.pages.prompts import BadPrompt, choice_of, parts_of
from sessions.web.respond import done, redirect, refused

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

    Where there is no such command, the answer says no more than that (`unknown`): the composer then sends the
    text as a prompt.
    """
    form = request.POST
    directory, session, project = await located(form)
    name, arguments = form.get("name", ""), form.get("arguments", "").replace("\r\n", "\n")
    try:
        given, files = choice_of(form), _files(form, typed(name, arguments))
        choice = await checked(directory, name, arguments)
    except UnknownCommand:
        return done(unknown=True)
    except (BadPrompt, MissingArgument) as problem:
        return refused(str(problem))
    target = session or await _session(request, project, directory, given)
    try:
        await admit(target, name, arguments, choice, files, **given)
    except PromptRefused as problem:
        return refused(str(problem))
    return done() if session else redirect(target.get_absolute_url())


@require_POST
async def run(request: HttpRequest) -> HttpResponse:
    """Have the person's own `command` run in `session`, or in a new one of `project`, when it is idle."""
    form = request.POST
    directory, session, project = await located(form)
    command = form.get("command", "").replace("\r\n", "\n")
    if not command.strip():
        return refused(gettext("Write a command first."))
    try:
        given = choice_of(form)
        target = session or await _session(request, project, directory, given)
        await shell.admit(target, command, **given)
    except (BadPrompt, PromptRefused) as problem:
        return refused(str(problem))
    return done() if session else redirect(target.get_absolute_url())


def _files(form: QueryDict, text: str) -> list[dict[str, Any]]:
    """What is attached and mentioned, as for any prompt. Raises BadPrompt."""
    prompt = form.copy()
    prompt["text"] = text
    return [part for part in parts_of(prompt) if part["type"] != "text"]


async def _session(request: HttpRequest, project: Project, directory: Path, given: dict[str, str]) -> Session:
    """The one that this prompt made when it was sent before, or a new one. What was picked beside the prompt
    is the choice of the session; the command's own is not."""
    if known := await in_db(session_of, given.get("message_id", ""), project.id):
        return known
    model = None
    if given.get("model_id"):
        variant = given.get("variant") or None
        model = SessionModel(id=given["model_id"], provider_id=given["provider_id"], variant=variant)
    created = await in_db(
        session_store.create, project, str(directory), agent=given.get("agent", ""), model=model
    )
    return await share_new(request, created)

"""`/command` and `/session/{id}/command` of OpenCode's API."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from agents.commands.admission import admit, checked
from agents.commands.listing import UnknownCommand, commands
from agents.commands.template import MissingArgument
from agents.configuration import load
from sessions.api.base import NotFound, directory_of, session_of, wire
from sessions.api.prompts import answered
from sessions.models import Session
from sessions.store.inbox import PromptRefused
from sessions.wire.base import Wire
from sessions.wire.messages import PromptPart

router = Router()
session_router = Router()


class CommandFile(PromptPart):
    type: Literal["file"]
    mime: str
    url: str


class CommandCall(Wire):
    """`model` is written `provider/model`."""

    command: str
    arguments: str
    message_id: str = Field(default="", alias="messageID", pattern="^(msg|$)")
    agent: str = ""
    model: str = ""
    variant: str = ""
    parts: list[CommandFile] = Field(default_factory=list)


@router.get("/command")
async def list_commands(request: HttpRequest) -> HttpResponse:
    return wire(await asyncio.to_thread(_listing, directory_of(request)))


def _listing(directory: Path) -> list[dict[str, Any]]:
    return [command.wire() for command in commands(directory, load(directory).config).values()]


@session_router.post("/{session_id}/command")
async def call_command(request: HttpRequest, session_id: str, body: CommandCall) -> StreamingHttpResponse:
    """Answered with the last assistant message once the session is idle again."""
    session = await session_of(session_id)
    try:
        choice = await checked(Path(session.directory), body.command, body.arguments)
    except UnknownCommand as error:
        raise NotFound(str(error)) from error
    except MissingArgument as error:
        raise HttpError(400, f"arguments: {error}") from error
    return await answered(session_id, lambda: _admit(session, body, choice))


async def _admit(session: Session, body: CommandCall, choice: dict[str, str]) -> str:
    provider_id, _, model_id = body.model.partition("/")
    given = {"agent": body.agent, "provider_id": provider_id, "model_id": model_id, "variant": body.variant}
    files = [part.fields() for part in body.parts]
    try:
        row = await admit(
            session, body.command, body.arguments, choice, files, message_id=body.message_id, **given
        )
    except PromptRefused as error:
        raise HttpError(400, f"parts: {error}") from error
    return row.id

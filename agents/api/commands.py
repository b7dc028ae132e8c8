"""`/command`, and in a session `command`, `init` and `shell` of OpenCode's API."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from agents.agent import shell
from agents.agent.commands.admission import admit, checked
from agents.agent.commands.listing import UnknownCommand
from agents.api.listings import commands_of
from agents.api.shapes import CommandInfo
from agents.config.configuration import load
from agents.plugins.hooks import ready
from agents.toolkit.definitions import agents
from agents.toolkit.template import MissingArgument
from sessions.api.base import Busy, NotFound, directory_of, session_of, wire
from sessions.api.described import answers
from sessions.api.prompts import answered
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import children, inbox
from sessions.core.store.inbox import PromptRefused
from sessions.core.wire.base import ModelRef, Wire
from sessions.core.wire.messages import MessageWithParts, PromptPart

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


@router.get("/command", operation_id="command.list")
@answers(list[CommandInfo])
async def list_commands(request: HttpRequest) -> HttpResponse:
    directory = directory_of(request)
    await ready(directory)
    return wire(await asyncio.to_thread(commands_of, directory))


class InitCall(Wire):
    model_id: str = Field(alias="modelID")
    provider_id: str = Field(alias="providerID")
    message_id: str = Field(alias="messageID", pattern="^msg")


class ShellCall(Wire):
    command: str
    agent: str
    message_id: str = Field(default="", alias="messageID", pattern="^(msg|$)")
    model: ModelRef | None = None


@session_router.post("/{session_id}/command", operation_id="session.command")
@answers(MessageWithParts, errors=(404,))
async def call_command(request: HttpRequest, session_id: str, body: CommandCall) -> StreamingHttpResponse:
    """Answered with the last assistant message once the session is idle again."""
    session = await session_of(session_id)
    choice = await _checked(session, body)
    return await answered(session_id, lambda: _admit(session, body, choice))


@session_router.post("/{session_id}/init", operation_id="session.init")
@answers(bool, errors=(404,))
async def call_init(request: HttpRequest, session_id: str, body: InitCall) -> StreamingHttpResponse:
    """The command `init`; `true` once the session is idle again."""
    session = await session_of(session_id)
    model = f"{body.provider_id}/{body.model_id}"
    call = CommandCall(command="init", arguments="", message_id=body.message_id, model=model)
    choice = await _checked(session, call)
    return await answered(session_id, lambda: _admit(session, call, choice), _done)


async def _done(session_id: str, message_id: str) -> bytes:
    return b"true"


@session_router.post("/{session_id}/shell", operation_id="session.shell")
@answers(MessageWithParts, errors=(404, 409))
async def call_shell(request: HttpRequest, session_id: str, body: ShellCall) -> StreamingHttpResponse:
    """Run a command of the user's; answered with the assistant message that has the call."""
    session = await session_of(session_id)
    await asyncio.to_thread(_check_agent, Path(session.directory), body.agent)
    if await in_db(_has_work, session_id):
        raise Busy(session_id)
    return await answered(session_id, lambda: _admit_shell(session, body))


def _has_work(session_id: str) -> bool:
    return children.is_busy(session_id) or bool(inbox.waiting(session_id))


def _check_agent(directory: Path, name: str) -> None:
    if name not in agents(load(directory).config):
        raise HttpError(400, f"agent: there is no agent {name!r}")


async def _admit_shell(session: Session, body: ShellCall) -> str:
    model = body.model
    try:
        row = await shell.admit(
            session,
            body.command,
            message_id=body.message_id,
            agent=body.agent,
            provider_id=model.provider_id if model else "",
            model_id=model.model_id if model else "",
        )
    except PromptRefused as error:
        raise HttpError(400, f"messageID: {error}") from error
    return row.id


async def _checked(session: Session, body: CommandCall) -> dict[str, str]:
    try:
        return await checked(Path(session.directory), body.command, body.arguments)
    except UnknownCommand as error:
        raise NotFound(str(error)) from error
    except MissingArgument as error:
        raise HttpError(400, f"arguments: {error}") from error


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

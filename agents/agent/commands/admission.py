"""Admit a prompt that calls a command; what it says is put together when the prompt is answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.agent.commands.listing import Command, find
from agents.toolkit.definitions import Agent
from agents.toolkit.template import MissingArgument
from sessions.changes import actions
from sessions.core.models import AdmittedPrompt, Session

MARK = "command"
"""The key in the metadata of the part that will hold the text, by which a command's prompt is known. Editing
a prompt that waits keeps this part and changes what was typed, so the arguments are read from there."""


def typed(name: str, arguments: str) -> str:
    """The command as it is written in the composer; the page shows this and not the template."""
    return f"/{name} {arguments.strip()}".rstrip()


def arguments_of(name: str, text: str) -> str | None:
    """What was written after the name; None when the text (which may have been edited) is no such call."""
    rest = text.strip().removeprefix(f"/{name}")
    if rest == text.strip() or (rest and not rest[0].isspace()):
        return None
    return rest.strip()


async def checked(directory: Path, name: str, arguments: str) -> dict[str, str]:
    """The choice of agent and model that the command makes for its prompt.

    Raises UnknownCommand, and MissingArgument that names the argument.
    """
    command, known = await find(directory, name)
    try:
        command.check(arguments)
    except MissingArgument as error:
        raise MissingArgument(f"/{name}: {error}") from error
    return {} if command.is_errand(known) else _choice(command, known)


def _choice(command: Command, known: dict[str, Agent]) -> dict[str, str]:
    model = command.model or (known[command.agent].model if command.agent in known else "")
    provider_id, _, model_id = model.partition("/")
    choice = {"agent": command.agent, "provider_id": provider_id, "model_id": model_id}
    chosen = {key: value for key, value in choice.items() if value}
    if provider_id or command.variant:
        chosen["variant"] = command.variant
    return chosen


async def admit(
    session: Session,
    name: str,
    arguments: str,
    choice: dict[str, str],
    files: Sequence[dict[str, Any]] = (),
    **given: Any,
) -> AdmittedPrompt:
    """Admit it and wake the session. `choice` is what `checked` gave and lies over `given`, which is the
    caller's (see `inbox.admit`). Raises PromptRefused."""
    return await actions.prompt(session, [*parts_of(name, arguments), *files], **{**given, **choice})


def parts_of(name: str, arguments: str) -> list[dict[str, Any]]:
    """Of its prompt: what was typed, and the place of what that says."""
    return [
        {"type": "text", "text": typed(name, arguments)},
        {"type": "text", "text": "", "synthetic": True, "metadata": {MARK: name}},
    ]

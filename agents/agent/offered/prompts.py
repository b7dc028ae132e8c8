"""Prompts of MCP servers, called as commands: `/server:prompt` with their arguments (MCP, server/prompts).

What a server gives is text of the prompt and never a template: nothing in it is run, read or replaced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.agent.offered.naming import prompt_names
from agents.agent.offered.results import Found
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.hub import hub
from agents.servers.mcp.texts import clean
from agents.toolkit.template import MissingArgument, words

if TYPE_CHECKING:
    from mcp import Client, types

_SPEAKERS = {"user": "User", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str
    required: bool


@dataclass(frozen=True, slots=True)
class Said:
    """What a prompt says: its text, and file parts beside it."""

    text: str
    files: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Prompt:
    """`name` is the server's own."""

    connection: Connection
    name: str
    description: str
    arguments: tuple[Argument, ...]

    def hints(self) -> list[str]:
        """As OpenCode has them: a number for each argument."""
        return [f"${number}" for number, _ in enumerate(self.arguments, 1)]

    def usage(self) -> str:
        """The arguments as they are written: optional ones in brackets."""
        return " ".join(one.name if one.required else f"[{one.name}]" for one in self.arguments)

    def values(self, written: str) -> dict[str, str]:
        """The arguments by name: words as `name=value`, and others in their order, the last taking all that
        are left. Raises MissingArgument."""
        values = self.given(written)
        for one in self.arguments:
            if one.required and not values.get(one.name):
                about = f" ({one.description})" if one.description else ""
                raise MissingArgument(f"The argument {one.name}{about} is missing. Write: {self.usage()}")
        return values

    def given(self, written: str) -> dict[str, str]:
        """The same of what is there so far."""
        known = {one.name for one in self.arguments}
        values: dict[str, str] = {}
        others: list[str] = []
        for word in words(written):
            name, equals, value = word.partition("=")
            if equals and name in known:
                values[name] = value
            else:
                others.append(word)
        left = [one.name for one in self.arguments if one.name not in values]
        values |= dict(zip(left, others, strict=False))
        if left and len(others) > len(left):
            values[left[-1]] = " ".join(others[len(left) - 1 :])
        return values

    async def said(self, written: str) -> Said:
        """Ask the server. Words for a prompt without arguments follow it. Raises MissingArgument, and
        ServerFailed."""
        values = self.values(written)

        async def use(client: Client) -> types.GetPromptResult:
            return await client.get_prompt(self.name, values)

        result = await self.connection.call(use)
        said = await asyncio.to_thread(_said, result.messages)
        if self.arguments or not written.strip():
            return said
        return Said(f"{said.text}\n\n{written.strip()}".strip(), said.files)


def prompts_of(directory: Path) -> dict[str, Prompt]:
    """By the name of the command: those of all servers that were reached. Reads files and blocks."""
    found = {
        (connection.server.name, prompt.name): (connection, prompt)
        for connection in hub.connections(directory).values()
        for prompt in connection.prompts
    }
    return {name: _prompt(*found[pair]) for pair, name in prompt_names(found).items()}


def _prompt(connection: Connection, prompt: types.Prompt) -> Prompt:
    arguments = tuple(
        Argument(clean(one.name, 100), clean(one.description or "", 300), bool(one.required))
        for one in prompt.arguments or ()
    )
    description = clean(prompt.description or prompt.title or "", 500)
    return Prompt(connection, prompt.name, description, arguments)


def _said(messages: Iterable[types.PromptMessage]) -> Said:
    """The messages as one. Who says what is told where it is not the user alone."""
    messages = list(messages)
    told = any(message.role != "user" for message in messages)
    texts: list[str] = []
    files: list[dict[str, Any]] = []
    for message in messages:
        found = Found.of([message.content])
        text = "\n\n".join(found.texts)
        texts += [f"{_SPEAKERS[message.role]}: {text}" if told else text] if text else []
        files += [_file(one.mime, one.url, one.filename) for one in found.files]
    return Said("\n\n".join(texts), files)


def _file(mime: str, url: str, filename: str) -> dict[str, Any]:
    return {"type": "file", "mime": mime, "url": url, "filename": filename or mime}

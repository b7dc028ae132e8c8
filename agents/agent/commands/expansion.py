"""Put the text of a command together, at the start of the turn that answers it.

Here and not when the prompt is sent, because a shell command in it asks for permission like any other. The
text is kept as a part of the user message before the first step, so a retry, a restart and the next turn show
the model the same; what was typed stays the part that people see. Shell commands and files are tool calls of
an answer of their own, which people see and which is not sent to the model.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from django.conf import settings

from agents.agent.calls.calls import Calls
from agents.agent.commands.admission import MARK, arguments_of
from agents.agent.commands.listing import DEFAULT_SUBAGENT, Command, UnknownCommand, find
from agents.agent.commands.rows import DONE, executed, waiting
from agents.agent.mentions import completed
from agents.agent.offered.prompts import Said
from agents.agent.run import Run
from agents.agent.steps.recorder import Recorder
from agents.agent.steps.sample import choice_now, sample
from agents.agent.subtasks import carry_out
from agents.llm.providers import UnknownModel
from agents.llm.types import Finish, ToolCall, Usage
from agents.plugins.hooks import trigger
from agents.servers.mcp.errors import ServerFailed
from agents.toolkit.definitions import Agent, UnknownAgent
from agents.toolkit.shared.output import bound
from agents.toolkit.skills import BadSkill
from agents.toolkit.template import MissingArgument, Shell, mentions
from agents.toolkit.turn import Turn
from agents.tools.registry import Toolset, toolset
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.store import messages
from sessions.core.store.inbox import wire_parts
from sessions.core.wire.base import NamedError
from sessions.core.wire.messages import UserMessage
from sessions.core.wire.parts import Completed, Failed, Pending, TextPart, ToolPart

logger = logging.getLogger(__name__)


async def expand(run: Run, prompt: UserMessage) -> bool:
    """Expand every command promoted since the last answer; False when `prompt` cannot be answered, which the
    session was told then. Raises nothing but what stops a turn."""
    failed = set()
    for entry in await in_db(waiting, run.session.id):
        message = UserMessage.model_validate(entry["info"])
        mark = next(part for part in entry["parts"] if MARK in (part.get("metadata") or {}))
        expansion = _Expansion(run, message, TextPart.model_validate(mark), entry["parts"])
        if not await expansion.settle():
            failed.add(message.id)
    return prompt.id not in failed


async def finished(run: Run, prompt: UserMessage) -> None:
    """The turn of a prompt has ended; the event for a command."""
    if run.error is None and not run.rejected:
        await in_db(executed, run.session, prompt.id)


class _Expansion:
    """One command's prompt; `mark` is the part that gets the text."""

    def __init__(
        self, run: Run, message: UserMessage, mark: TextPart, parts: Sequence[dict[str, Any]]
    ) -> None:
        self.run = run
        self.message = message
        self.mark = mark
        self.name = str((mark.metadata or {})[MARK])
        texts = (part["text"] for part in parts if part["type"] == "text" and not part.get("synthetic"))
        self.arguments = arguments_of(self.name, "\n".join(texts))

    async def settle(self) -> bool:
        """Write the parts, or an answer that says why there are none. Whether the model is asked next."""
        try:
            return await self._written()
        except (UnknownAgent, UnknownModel):
            return True  # the step says so
        except (UnknownCommand, MissingArgument, BadSkill, ServerFailed) as error:
            await self._fail(await Recorder.open(self.run, self.message), f"/{self.name}: {error}")
        except NotIncluded as refusal:
            self.run.rejected = False  # told here, with more than the end of the turn would say
            await self._fail(refusal.recorder, f"/{self.name} was not carried out. {refusal}")
        return False

    async def _written(self) -> bool:
        """Raises what `settle` catches."""
        if self.arguments is None:  # edited into something else
            await self._put("", [])
            return True
        command, known = await find(self.run.directory, self.name)
        if command.prompt is not None:
            await self._write_said(await command.prompt.said(self.arguments))
            return True
        pieces = command.expand(self.arguments)
        said = pieces if command.skill is None else [self.arguments]
        named = mentions("\n".join(piece for piece in said if isinstance(piece, str)))
        async with Inclusion(self.run, self.message, self.name) as inclusion:
            outputs = [
                await inclusion.output(piece.command) if isinstance(piece, Shell) else piece
                for piece in pieces
            ]
            files = [name for name in named if _exists(self.run.directory, name)]
            included = [part for name in files for part in await inclusion.file(name)]
            text = bound("".join(outputs).strip(), Path(settings.TOOL_OUTPUT_DIR)).text
            if not command.is_errand(known):
                agents = [name for name in named if name not in files and _is_subagent(name, known)]
                await self._write(text, [*included, *({"type": "agent", "name": name} for name in agents)])
                return True
            errand = _errand(command, known, text, included)
            await self._write("", [errand])
        return not inclusion.opened or await carry_out(self.run, self.message, [errand])

    async def _write_said(self, said: Said) -> None:
        """What an MCP server gave is no template."""
        text = await asyncio.to_thread(bound, said.text, Path(settings.TOOL_OUTPUT_DIR))
        await self._write(text.text, said.files)

    async def _write(self, text: str, more: list[dict[str, Any]]) -> None:
        """What plugins make of it."""
        asked = {
            "sessionID": self.message.session_id,
            "command": self.name,
            "arguments": self.arguments or "",
        }
        given = {"parts": [{"type": "text", "text": text}, *more]}
        made = (await trigger(self.run.session, "command.execute.before", asked, given))["parts"]
        texts = [part["text"] for part in made if part["type"] == "text"]
        await self._put("\n\n".join(texts), [part for part in made if part["type"] != "text"])

    async def _put(self, text: str, more: list[dict[str, Any]]) -> None:
        """All at once, so that there is the whole or nothing."""
        metadata = {MARK: self.name, DONE: self.arguments or ""}
        mark = self.mark.model_copy(update={"text": text, "metadata": metadata})
        parts = wire_parts(completed(more), self.message.session_id, self.message.id)
        await in_db(messages.put_parts, [mark, *parts])

    async def _fail(self, recorder: Recorder, words: str) -> None:
        logger.info("session %s: %s", self.run.session.id, words)
        await recorder.failed(NamedError(name="UnknownError", data={"message": words}))


def _errand(
    command: Command, known: Mapping[str, Agent], text: str, included: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The subtask part. A subagent is given text, so what was included follows the text."""
    agent = command.agent or DEFAULT_SUBAGENT
    model = command.model or (known[agent].model if agent in known else "")
    provider_id, _, model_id = model.partition("/")
    part = {
        "type": "subtask",
        "prompt": "\n\n".join([text, *(part["text"] for part in included if part["type"] == "text")]),
        "description": command.description or f"/{command.name}",
        "agent": agent,
        "command": command.name,
    }
    return part | ({"model": {"providerID": provider_id, "modelID": model_id}} if model else {})


def _exists(directory: Path, name: str) -> bool:
    try:
        return (directory / Path(name).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):
        return False


def _is_subagent(name: str, known: Mapping[str, Agent]) -> bool:
    return name in known and known[name].mode != "primary" and not known[name].hidden


# The tool calls that a command's text needs: shell commands and files, with the permissions of its turn.

SHELL_MS = 30_000
"""How long one shell command of a template may take."""


class NotIncluded(Exception):
    """The text cannot be put together; `recorder` holds the answer with the call that failed. For people."""

    def __init__(self, recorder: Recorder, words: str) -> None:
        super().__init__(words)
        self.recorder = recorder


class Inclusion:
    """The calls of one command's prompt, one after another, in an answer that is opened by the first."""

    def __init__(self, run: Run, message: UserMessage, name: str) -> None:
        self.run = run
        self.message = message
        self.name = name
        self._opened: tuple[Recorder, Turn, Toolset] | None = None

    async def __aenter__(self) -> Inclusion:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """In order: the answer ends as one that goes on with calls. Otherwise whoever catches ends it."""
        if error is None and self._opened is not None:
            recorder, turn, _ = self._opened
            await recorder.finished(Finish("tool-calls", Usage()), turn.model)

    @property
    def opened(self) -> bool:
        """Whether there was a call."""
        return self._opened is not None

    async def output(self, command: str) -> str:
        """What a shell command prints, with its exit status if it fails. Raises NotIncluded when it may not
        run; UnknownAgent and UnknownModel."""
        description = f"Part of the command /{self.name}"
        arguments = {"command": command, "timeout": SHELL_MS, "description": description}
        recorder, part = await self._call("bash", arguments)
        if isinstance(part.state, Completed):
            return part.state.output.strip("\n")
        raise NotIncluded(recorder, f"{self._why(part)} The shell command was: {command}")

    async def file(self, name: str) -> list[dict[str, Any]]:
        """What is in a file, as parts of a prompt. One that cannot be read is told to the model;
        NotIncluded is raised when the user rejects it."""
        recorder, part = await self._call("read", {"filePath": name})
        if not isinstance(part.state, Completed):
            if self.run.rejected:
                raise NotIncluded(recorder, f"{self._why(part)} The file was: {name}")
            return [_text(f"[@{name} is not included. {self._why(part)}]")]
        files = part.state.attachments or []
        attached = [
            {"type": "file", "mime": file.mime, "url": file.url, "filename": file.filename} for file in files
        ]
        return [_text(f"What is in @{name}:\n{part.state.output}"), *attached]

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[Recorder, ToolPart]:
        """One call, settled. `parent` keeps its part from being sent to the model, which did not make it."""
        recorder, turn, tools = self._opened = self._opened or await self._open()
        part = ToolPart(
            id=ascending("prt"),
            session_id=self.message.session_id,
            message_id=recorder.message.id,
            call_id=ascending("call"),
            tool=tool,
            state=Pending(),
            metadata={"parent": self.message.id},
        )
        async with Calls(self.run, recorder, turn, tools) as calls:
            calls.begin((part, ToolCall(part.call_id, tool, arguments, "")))
        return recorder, part

    async def _open(self) -> tuple[Recorder, Turn, Toolset]:
        turn = await sample(self.run, choice_now(self.run, self.message))
        recorder = await Recorder.open(self.run, self.message, turn)
        await recorder.started()
        return recorder, turn, await toolset(turn)

    def _why(self, part: ToolPart) -> str:
        """In words for people and the model."""
        if self.run.rejected:
            return "You rejected it."
        return part.state.error if isinstance(part.state, Failed) else "It did not end."


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "synthetic": True}

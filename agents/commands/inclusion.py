"""The tool calls that a command's text needs: shell commands and files, with the permissions of its turn."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from agents.llm.types import Finish, ToolCall, Usage
from agents.runtime.calls.calls import Calls
from agents.runtime.run import Run
from agents.runtime.steps.recorder import Recorder
from agents.runtime.steps.sample import choice_now, sample
from agents.tools.registry import Toolset, toolset
from agents.turn import Turn
from sessions.ids import ascending
from sessions.wire.messages import UserMessage
from sessions.wire.parts import Completed, Failed, Pending, ToolPart

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
        turn = await sample(self.run, await choice_now(self.run, self.message))
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

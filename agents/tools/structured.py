"""`StructuredOutput`: the tool by which a model answers in the form that the prompt asks for.

It is there in turns of such prompts alone, takes the prompt's schema as its parameters, and no permission
rule concerns it: it does nothing but answer. Name and title are OpenCode's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.toolkit.base import FreeInput, Tool, ToolContext, ToolError, ToolResult
from sessions.core.wire.formats import OutputFormat, OutputFormatJsonSchema, problems

NAME = "StructuredOutput"

DESCRIPTION = """\
Give your final answer as the arguments of this tool. They have to fit its parameters. Do everything else \
that the request needs first: the first call with fitting arguments ends your turn."""

INSTRUCTION = f"""\
The answer to this request is read by a program. Give it by calling the tool {NAME} once all other work is \
done; an answer in plain text is lost."""


@dataclass(slots=True)
class Form:
    """What a turn's answer has to look like, the answer once it is there, and how often it was wrong."""

    schema: Mapping[str, Any]
    retries: int
    answer: dict[str, Any] | None = None
    wrong: int = 0

    @property
    def spent(self) -> bool:
        """Whether a wrong answer goes back no more."""
        return self.wrong > self.retries

    @property
    def tool(self) -> Tool[FreeInput]:
        """The form as a tool; providers want its parameters to be an object by name, and know no dialects."""
        shown = {key: value for key, value in self.schema.items() if key != "$schema"}
        return Tool(
            NAME,
            DESCRIPTION,
            FreeInput,
            self._take,
            permission="",
            parameters={**shown, "type": "object"},
        )

    async def _take(self, args: FreeInput, ctx: ToolContext) -> ToolResult:
        """Keep the answer if it fits."""
        given = dict(args.model_extra or {})
        if wrong := await asyncio.to_thread(problems, self.schema, given):
            raise ToolError(f"The answer does not fit the schema: {'; '.join(wrong)}. Correct it.")
        self.answer = given
        return ToolResult("Structured Output", "The answer was taken.", {"valid": True})


def form_of(format: OutputFormat | None, before: Form | None = None) -> Form | None:
    """The form that a prompt asks for. One that says nothing of it, and joins a turn, leaves the form that
    the turn had `before`."""
    if format is None:
        return before
    if isinstance(format, OutputFormatJsonSchema):
        return Form(format.json_schema, format.retry_count)
    return None

"""Run the tool calls of one step side by side and settle each once."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from types import TracebackType
from typing import Any

from django.conf import settings
from pydantic import ValidationError

from agents.agent.calls import limits
from agents.agent.calls.clock import Clock
from agents.agent.calls.completion import undisturbed
from agents.agent.calls.context import CallContext
from agents.agent.run import DOOM_LOOP, Run
from agents.agent.steps.recorder import Recorder
from agents.agent.trust import waiting_tool
from agents.llm.types import ToolCall
from agents.plugins import calls as hooks
from agents.toolkit.base import Outcome, Tool, ToolError, ToolResult
from agents.toolkit.permission.errors import NotPermitted, PermissionRejected
from agents.toolkit.shared.output import model_output
from agents.toolkit.turn import Turn
from agents.tools.registry import Toolset
from sessions.core.db import in_db
from sessions.core.ids import ascending, now
from sessions.core.store import messages
from sessions.core.wire.parts import Completed, Failed, FilePart, Running, Span, ToolPart

logger = logging.getLogger(__name__)

MOST_NAMED = 40
"""Tools that are named to a model which called none of them."""


class Calls:
    """The calls of one provider turn: `begin` each as it becomes complete; leaving the block settles all."""

    def __init__(self, run: Run, recorder: Recorder, turn: Turn, tools: Toolset) -> None:
        self.run = run
        self.recorder = recorder
        self.turn = turn
        self.tools = tools
        self.offered: Sequence[str] = ()
        """The names that the model was shown."""
        self.begun = False
        self.named: set[str] = set()
        self._tasks: set[asyncio.Task[ToolResult | None]] = set()

    async def __aenter__(self) -> Calls:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for every call; a stop cancels them and waits until their children are gone."""
        stopped = kind is not None and issubclass(kind, asyncio.CancelledError)
        try:
            if not stopped and self._tasks:
                done, _ = await asyncio.wait(self._tasks)  # which, unlike gather, does not cancel them twice
                for task in done:
                    task.result()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def begin(self, call: tuple[ToolPart, ToolCall]) -> None:
        self.begun = True
        self.named.add(self.tools.find(call[1].name).name)
        self._tasks.add(asyncio.create_task(self._settle(*call)))

    def context_of(self, part: ToolPart, outer: Clock | None = None) -> CallContext:
        """What a call is given; `outer` is the clock of the call that makes it."""
        return CallContext(self.run, self.turn, part, Clock(part, outer), self._within)

    async def _within(
        self, outer: ToolPart, clock: Clock, name: str, arguments: Mapping[str, Any]
    ) -> Outcome:
        """A call that a tool makes. Its part is for people: the model made the outer call only."""
        part = self.recorder.inner_tool(outer, name)
        result = await self._settle(part, ToolCall(part.call_id, name, arguments, ""), clock)
        words = part.state.error if isinstance(part.state, Failed) else ""
        return Outcome(result, words)

    async def _settle(self, part: ToolPart, call: ToolCall, outer: Clock | None = None) -> ToolResult | None:
        """Run one call and write its one settlement; the result if it succeeded."""
        tool, arguments = _resolve(self.tools, call)
        if tool.name == "invalid" and "error" not in arguments:
            arguments = {"tool": call.name, "error": await self._unknown(call.name)}
        part.tool = tool.name
        shown = dict(call.input or {})
        part.state = Running(input=shown, time=Span(start=now()))
        await self._put(part)
        context = self.context_of(part, outer)
        try:
            if self.tools.find(part.tool).permission:  # else no rule concerns it
                await self._check_repetition(context, part)
                await limits.check(self.run, context, part.tool)
            arguments = await hooks.before(self.run.session, part, arguments)
            result = await self._execute(tool, arguments, context)
            return await undisturbed(self._complete(part, arguments, result))
        except PermissionRejected as refusal:
            self.run.rejected = self.run.rejected or not refusal.message
            await self._failed(part, str(refusal))
        except (ToolError, NotPermitted) as error:
            await self._failed(part, str(error))
        except Exception as error:
            logger.exception("the tool %s failed", tool.name)
            await self._failed(part, f"The tool failed unexpectedly: {type(error).__name__}: {error}")
        return None

    async def _unknown(self, name: str) -> str:
        """What a model is told that called a tool which is not there."""
        if file := await asyncio.to_thread(waiting_tool, self.turn.directory, name):
            return f"it waits for trust: a person has to trust {file} first. Go on without it."
        known = self.offered or [known for known in self.tools.tools if known != "invalid"]
        nearest = sorted(
            known, key=lambda one: SequenceMatcher(None, one, name.lower()).ratio(), reverse=True
        )
        rest = f" and {len(nearest) - MOST_NAMED} more" if len(nearest) > MOST_NAMED else ""
        names = ", ".join(nearest[:MOST_NAMED])
        return f"there is no tool of this name. There are, the most similar first: {names}{rest}."

    async def _complete(self, part: ToolPart, arguments: Mapping[str, Any], result: ToolResult) -> ToolResult:
        """What follows a success: a stop comes after it, so that what was done is neither lost nor told
        twice."""
        result = await hooks.after(self.run.session, part, arguments, result)
        await self._succeeded(part, result)
        return result

    async def _execute(
        self, tool: Tool[Any], arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResult:
        try:
            given = tool.input.model_validate(arguments)
        except ValidationError as error:
            raise ToolError(_explain(tool.name, error)) from error
        return context.noted(await tool.execute(given, context))

    async def _check_repetition(self, context: CallContext, part: ToolPart) -> None:
        """The third identical call in a row asks."""
        signature = (part.tool, json.dumps(part.state.input, sort_keys=True))
        recent = self.run.recent_calls
        recent.append(signature)
        if recent.count(signature) == DOOM_LOOP:
            metadata = {"tool": part.tool, "input": part.state.input}
            await context.ask("doom_loop", [part.tool], always=[part.tool], metadata=metadata)

    async def _succeeded(self, part: ToolPart, result: ToolResult) -> None:
        """Bound the output and publish success, in one write."""
        directory = Path(settings.TOOL_OUTPUT_DIR)
        output, metadata = await asyncio.to_thread(
            model_output, result, self.turn.config.tool_output, directory
        )
        files = [
            FilePart(
                id=ascending("prt"),
                session_id=part.session_id,
                message_id=part.message_id,
                mime=file.mime,
                url=file.url,
                filename=file.filename,
            )
            for file in result.attachments
        ]
        part.state = Completed(
            input=part.state.input,
            output=output,
            title=result.title,
            metadata=metadata,
            time=Span(start=_start(part), end=now()),
            attachments=files or None,
        )
        await self._put(part)

    async def _failed(self, part: ToolPart, words: str) -> None:
        metadata = part.state.metadata if isinstance(part.state, Running) else None
        part.state = Failed(
            input=part.state.input, error=words, metadata=metadata, time=Span(start=_start(part), end=now())
        )
        await undisturbed(self._put(part))

    async def _put(self, part: ToolPart) -> None:
        await in_db(messages.put_part, part.model_copy(deep=True))


def _start(part: ToolPart) -> int:
    return part.state.time.start if isinstance(part.state, Running) else now()


def _resolve(tools: Toolset, call: ToolCall) -> tuple[Tool[Any], Mapping[str, Any]]:
    """The tool to run: repaired by case, else the one that tells what was wrong."""
    tool, invalid = tools.find(call.name), tools.find("invalid")
    if call.cut_at is not None:
        at = f"{call.cut_at:,} output tokens" if call.cut_at else "the limit of output tokens"
        words = f"your answer was cut at {at}, in these arguments: write it in parts, with several calls"
        return invalid, {"tool": call.name, "error": words}
    if call.input is None:
        return invalid, {"tool": call.name, "error": f"the arguments are not a JSON object: {call.raw[:500]}"}
    if tool is invalid:
        return tool, {}
    return tool, call.input


def _explain(name: str, error: ValidationError) -> str:
    wrong = "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'input'}: {item['msg']}"
        for item in error.errors(include_url=False)
    )
    return f"The arguments of {name} are invalid: {wrong}. Correct them and call it again."

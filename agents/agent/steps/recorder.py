"""Turns the events of one provider stream into the parts of one assistant message.

Text deltas are published as they come, those of one moment as one, and folded into the row a few times a
second.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from agents.agent import recovery
from agents.agent.run import Run
from agents.llm.counted import tokens_of
from agents.llm.types import (
    Finish,
    Model,
    ModelError,
    ModelEvent,
    ProviderCall,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    ToolCall,
    ToolInputStart,
)
from agents.plugins.hooks import trigger
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.fence import LeaseLost
from sessions.core.ids import ascending, now
from sessions.core.store import leases, messages, order, usage
from sessions.core.wire.base import NamedError
from sessions.core.wire.messages import AssistantMessage, MessagePath, MessageTime, UserMessage
from sessions.core.wire.parts import (
    Completed,
    Created,
    Failed,
    FilePart,
    Part,
    Pending,
    ReasoningPart,
    RetryPart,
    Span,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)

FOLD_SECONDS = 0.25
BROKEN_OFF = "The answer broke off in this call: it was not run."

logger = logging.getLogger(__name__)


class Recorder:
    """One assistant message being written; used from the turn's loop only."""

    def __init__(self, run: Run, message: AssistantMessage) -> None:
        self.run = run
        self.message = message
        self._open: TextPart | ReasoningPart | None = None
        self._came: list[str] = []
        """What came for the open part and is not in its text yet, which each delta by itself would copy."""
        self._told = 0
        """The characters of the open part that were published."""
        self._telling = False
        self._attempt: list[TextPart | ReasoningPart] = []
        self._pending: dict[str, ToolPart] = {}
        self._folding: asyncio.Task[None] | None = None
        self._unwritten = False
        self.ran = False
        """Whether the provider ran anything itself."""

    @classmethod
    async def open(
        cls,
        run: Run,
        prompt: UserMessage,
        turn: Turn | None = None,
        *,
        after: str = "",
        summary: bool | None = None,
    ) -> Recorder:
        """A new assistant message that answers a user message; without a turn when none could be sampled. It
        is written when it has `started`, or `failed`. `after`: the last id of the session, where it is known.
        `summary`: it takes the place of what was before."""
        agent = turn.agent.name if turn else prompt.agent
        message = AssistantMessage(
            id=ascending("msg", after=after) if after else await in_db(order.next_id, run.session.id),
            session_id=run.session.id,
            time=MessageTime(created=now()),
            parent_id=prompt.id,
            provider_id=turn.model.provider_id if turn else prompt.model.provider_id,
            model_id=turn.model.model_id if turn else prompt.model.model_id,
            variant=(turn.variant or None) if turn else None,
            mode=agent,
            agent=agent,
            path=MessagePath(cwd=str(run.directory), root=str(run.worktree)),
            summary=summary,
        )
        return cls(run, message)

    async def started(self) -> None:
        """The provider turn begins."""
        part = self._new(StepStartPart, snapshot=self.run.tracker.tree or None)
        await in_db(messages.put_message, self.message.model_copy(deep=True), [part])

    async def put(self) -> None:
        """Write the message as it is, without a provider turn."""
        await in_db(messages.put_message, self.message.model_copy(deep=True))

    async def take(self, event: ModelEvent) -> tuple[ToolPart, ToolCall] | None:
        """Record an event; a complete tool call comes back with its part, to be run."""
        if isinstance(event, TextDelta | ReasoningDelta):
            await self._append(TextPart if isinstance(event, TextDelta) else ReasoningPart, event.text)
        elif isinstance(event, ReasoningEnd):
            await self._close(event.metadata)
        elif isinstance(event, ProviderCall):
            await self._close()
            self.ran = True
            await self._provider_call(event)
        elif isinstance(event, ToolInputStart):
            await self._close()
            await self._put(self._tool(event.call_id, event.name))
        elif isinstance(event, ToolCall):
            await self._close()
            part = self._pending.get(event.call_id) or self._tool(event.call_id, event.name)
            del self._pending[event.call_id]
            if event.metadata:
                part.metadata = dict(event.metadata)
            return part, event
        return None

    async def _append(self, kind: type[TextPart] | type[ReasoningPart], text: str) -> None:
        if not isinstance(self._open, kind):
            await self._close()
            self._open = self._new(kind, text="", time=Span(start=now()))
            self._attempt.append(self._open)
            await self._put(self._open)
        self._came.append(text)
        if not self._telling:
            self._tell()
            self._telling = True
            asyncio.get_running_loop().call_soon(self._tell)
        if self._folding is None:
            self._folding = asyncio.create_task(self._fold_soon())

    def _take_in(self) -> None:
        if self._open is not None and self._came:
            self._open.text += "".join(self._came)
            self._came.clear()

    def _tell(self) -> None:
        """Publish what came since: the first of a burst at once, the rest of it when the loop comes round.
        What is not sent, as the lease may be lost, comes with what is told next."""
        self._take_in()
        self._telling, part, told = False, self._open, self._told
        if part is not None and len(part.text) > told:
            new = part.text[told:]
            if messages.publish_delta(self.run.session.project_id, part, "text", new, told):
                self._told += len(new)

    async def _fold_soon(self) -> None:
        """By the clock and not by the next delta: a stream may stand still."""
        while True:
            await asyncio.sleep(FOLD_SECONDS)
            try:
                await self._fold()
            except LeaseLost:
                break  # the next write that counts says so, and ends the drain
            except Exception as error:
                if not self._unwritten:
                    logger.exception("the text of %s cannot be kept yet", self.message.id)
                    await recovery.alarm(self.run.session.id, error)
                self._unwritten = True
            else:
                self._unwritten = False
                break
        self._folding = None

    async def fold(self) -> None:
        """Write the streamed text into its row, without an event."""
        if self._folding is not None:
            self._folding.cancel()
            self._folding = None
        await self._fold()

    async def _fold(self) -> None:
        await leases.confirmed()  # after a sleep of the machine: nobody else may come to tell what waited
        self._tell()
        if self._open is not None:
            await in_db(messages.put_parts, [self._open.model_copy(deep=True)], quiet=True)

    async def _close(self, metadata: Mapping[str, Any] | None = None) -> None:
        """End the open text or reasoning; only reasoning carries what the provider gave beside it."""
        if (part := await self._whole(metadata)) is not None:
            await self._put(part)

    async def _cut(self) -> None:
        """The same where the answer broke off."""
        if (part := self._ended()) is not None:
            await self._put(part)

    async def _whole(self, metadata: Mapping[str, Any] | None = None) -> TextPart | ReasoningPart | None:
        """To be written: what plugins make of a text."""
        part = self._ended(metadata)
        if isinstance(part, TextPart):
            asked = {"sessionID": part.session_id, "messageID": part.message_id, "partID": part.id}
            made = await trigger(self.run.session, "experimental.text.complete", asked, {"text": part.text})
            part.text = made["text"]
        return part

    def _ended(self, metadata: Mapping[str, Any] | None = None) -> TextPart | ReasoningPart | None:
        """The open one, ended, to be written."""
        if self._open is None:
            if metadata:  # redacted reasoning: nothing to read, but it has to go back
                self._open = self._new(ReasoningPart, text="", time=Span(start=now()))
                self._attempt.append(self._open)
            else:
                return None
        self._tell()
        part, self._open, self._told = self._open, None, 0
        if part.time is not None:
            part.time.end = now()
        if metadata:
            part.metadata = dict(metadata)
        return part

    async def _provider_call(self, call: ProviderCall) -> None:
        """It has ended already: nothing runs here, and nobody is asked."""
        part = self._pending.get(call.call_id) or self._tool(call.call_id, call.name)
        del self._pending[call.call_id]
        part.metadata = {"providerExecuted": True, "items": [dict(item) for item in call.items]}
        given, span = dict(call.input), Span(start=now(), end=now())
        if call.error:
            part.state = Failed(input=given, error=call.error, time=span)
        else:
            files = [
                self._new(FilePart, mime=file.mime, url=f"data:{file.mime};base64,{file.data}")
                for file in call.attachments
            ]
            title = f"Run by {self.message.provider_id}"
            part.state = Completed(
                input=given, output=call.output, title=title, time=span, attachments=files or None
            )
        await self._put(part)

    def _tool(self, call_id: str, name: str) -> ToolPart:
        part: ToolPart = self._new(ToolPart, call_id=call_id, tool=name, state=Pending())
        self._pending[call_id] = part
        return part

    def inner_tool(self, outer: ToolPart, name: str) -> ToolPart:
        """The part of a call that another call makes; `parent` keeps it from being sent to the model."""
        part: ToolPart = self._new(
            ToolPart,
            call_id=ascending("call"),
            tool=name,
            state=Pending(),
            metadata={"parent": outer.call_id},
        )
        return part

    @property
    def answered(self) -> bool:
        """Whether anything but thoughts came in this attempt."""
        self._take_in()
        said = any(isinstance(part, TextPart) and part.text.strip() for part in self._attempt)
        return said or self.ran

    async def retrying(self, attempt: int, error: ModelError) -> None:
        """What a failed attempt said stays readable, but is not sent to the model again."""
        await self._cut()
        await self._drop_pending()
        for part in self._attempt:
            if isinstance(part, TextPart):
                part.ignored = True
            else:
                part.metadata = {"ignored": True}
        named = NamedError(name="APIError", data={"message": error.message, "isRetryable": True})
        retry = self._new(RetryPart, attempt=attempt, error=named, time=Created(created=now()))
        await in_db(messages.put_parts, [*self._attempt, retry])
        self._attempt = []

    async def go_on_with(self, turn: Turn) -> None:
        """Another model answers in this message."""
        self.message.provider_id, self.message.model_id = turn.model.provider_id, turn.model.model_id
        self.message.variant = turn.variant or None
        await self.put()

    async def finished(
        self, finish: Finish, model: Model, write: Callable[..., None] = usage.step_finished
    ) -> None:
        """The provider turn ended in order and its calls are settled; `write` is given message and part, and
        what was said last."""
        last = await self._whole()
        cost = finish.usage.cost(model.price)
        tokens = tokens_of(finish.usage)
        self.message.finish, self.message.tokens, self.message.cost = finish.reason, tokens, cost
        self.message.time.completed = now()
        snapshot = self.run.tracker.tree or None
        part = self._new(StepFinishPart, reason=finish.reason, snapshot=snapshot, cost=cost, tokens=tokens)
        await in_db(write, self.message, part, said=[last] if last else ())

    async def _drop_pending(self) -> None:
        """Calls of which the stream broke off before they were whole: they did not run, and no model is told
        of them again."""
        for part in self._pending.values():
            span = Span(start=now(), end=now())
            part.state = Failed(
                input={}, error="The answer broke off in this call: it was not run.", time=span
            )
            part.metadata = {**(part.metadata or {}), "ignored": True}
            await self._put(part)
        self._pending.clear()

    async def failed(self, error: NamedError) -> None:
        await self._cut()
        await self._drop_pending()
        self.message.error = error
        self.message.time.completed = now()
        await self.put()
        await in_db(usage.put_patch, self.message)

    def _new(self, kind: type[Any], **fields: Any) -> Any:
        return kind(id=ascending("prt"), session_id=self.run.session.id, message_id=self.message.id, **fields)

    async def _put(self, part: Part) -> None:
        await in_db(messages.put_part, part.model_copy(deep=True))

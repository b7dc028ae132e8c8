"""One step: one Provider Turn, its tool calls settled, its cost counted (seed 004 §3.2, §12)."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import aclosing
from enum import Enum

from agents.context.epochs import ContextBlocked, admit
from agents.definitions import UnknownAgent
from agents.llm import stream
from agents.llm.providers import UnknownModel
from agents.llm.retry import delay
from agents.llm.types import ContextOverflow, Finish, ModelError, ModelRequest
from agents.runtime.calls.calls import Calls
from agents.runtime.run import Run
from agents.runtime.steps.errors import named
from agents.runtime.steps.recorder import Recorder
from agents.runtime.steps.request import build
from agents.runtime.steps.sample import choice_now, sample
from agents.tools.registry import toolset
from sessions.db import in_db
from sessions.ids import now
from sessions.store import sessions as session_store
from sessions.wire.messages import UserMessage
from sessions.wire.session import Status

logger = logging.getLogger(__name__)

MAX_RETRIES = 8


class Outcome(Enum):
    """What comes after a step: nothing, another step, or a compaction and then another step."""

    DONE = "done"
    CONTINUE = "continue"
    OVERFLOW = "overflow"


async def step(run: Run, prompt: UserMessage, taken: int) -> Outcome:
    """Take one step for a promoted prompt, after `taken` others."""
    try:
        turn = await sample(run, await choice_now(run, prompt))
        baseline = await admit(turn)
    except (UnknownModel, UnknownAgent, ContextBlocked) as error:
        await _failed(run, await Recorder.open(run, prompt), error)
        return Outcome.DONE
    entries = await run.transcript.refresh()
    recorder = await Recorder.open(run, prompt, turn)
    try:
        tools = await toolset(turn)
        request = build(turn, prompt, entries, baseline, tools, taken)
        await recorder.started()
        finish = await _provider_turn(run, request, recorder, Calls(run, recorder, turn, tools))
    except ModelError as error:
        await _failed(run, recorder, error)
        return Outcome.OVERFLOW if isinstance(error, ContextOverflow) else Outcome.DONE
    except BaseException:  # stopped, or an error of ours: what was said until now is kept
        await recorder.fold()
        raise
    await recorder.finished(finish, turn.model)
    return Outcome.CONTINUE if finish.reason == "tool-calls" and not run.rejected else Outcome.DONE


async def _provider_turn(run: Run, request: ModelRequest, recorder: Recorder, calls: Calls) -> Finish:
    """Stream until the provider has finished and every call is settled; retries what can be retried."""
    attempt = 0
    while True:
        try:
            async with calls:
                return await _stream(request, recorder, calls)
        except ModelError as error:
            attempt += 1
            seconds = delay(error, attempt, time.time()) if attempt <= MAX_RETRIES else None
            if calls.begun:  # what ran cannot be run again: the next step shows the model how far it came
                logger.warning("the stream broke after tool calls: %s", error.message)
                return Finish("tool-calls", recorder.usage)
            if seconds is None:
                raise
            await recorder.retrying(attempt, error)
            await _wait(run, attempt, error, seconds)


async def _stream(request: ModelRequest, recorder: Recorder, calls: Calls) -> Finish:
    async with aclosing(stream(request)) as events:
        async for event in events:
            if isinstance(event, Finish):
                return Finish("tool-calls", event.usage) if calls.begun else event
            call = await recorder.take(event)
            if call is not None:
                calls.begin(call)
    raise ModelError("The model's answer ended without an end.", retryable=True)


async def _wait(run: Run, attempt: int, error: ModelError, seconds: float) -> None:
    status = Status(type="retry", attempt=attempt, message=error.message, next=now() + int(seconds * 1000))
    await in_db(session_store.set_status, run.session.id, status)
    await asyncio.sleep(seconds)
    await in_db(session_store.set_status, run.session.id, Status(type="busy"))


async def _failed(run: Run, recorder: Recorder, error: Exception) -> None:
    logger.warning("session %s: %s", run.session.id, error)
    wire_error = named(error)
    run.error = wire_error.wire()
    await recorder.failed(wire_error)

"""One step: one Provider Turn, its tool calls settled, its cost counted (seed 004 §3.2, §12)."""

from __future__ import annotations

import logging
from contextlib import aclosing
from enum import Enum
from functools import partial

from agents.compaction import estimate
from agents.compaction.budget import budget
from agents.compaction.overflow import is_full
from agents.compaction.projection import project
from agents.compaction.relief import suggestion
from agents.context.epochs import ContextBlocked, admit
from agents.definitions import UnknownAgent
from agents.llm import stream
from agents.llm.providers import UnknownModel
from agents.llm.types import ContextOverflow, Finish, ModelError, ModelRequest
from agents.plugins.request import shaped
from agents.runtime.calls.calls import Calls
from agents.runtime.run import Run
from agents.runtime.steps.form import judge
from agents.runtime.steps.recorder import Recorder
from agents.runtime.steps.request import build
from agents.runtime.steps.sample import choice_now, sample
from agents.runtime.steps.trouble import failed, pause
from agents.tools.registry import toolset
from agents.tools.structured import NAME
from agents.turn import Turn
from sessions.store import usage
from sessions.wire.messages import UserMessage

logger = logging.getLogger(__name__)


class Outcome(Enum):
    """What comes next: nothing, another step, room to be made for one, or what a compaction goes on with."""

    DONE = "done"
    CONTINUE = "continue"
    OVERFLOW = "overflow"
    COMPACTED = "compacted"


async def step(run: Run, prompt: UserMessage, taken: int) -> Outcome:
    """Take one step for a promoted prompt, after `taken` others."""
    try:
        turn = await sample(run, await choice_now(run, prompt))
        baseline = await admit(turn)
    except (UnknownModel, UnknownAgent, ContextBlocked) as error:
        await failed(run, await Recorder.open(run, prompt), error)
        return Outcome.DONE
    entries = await run.transcript.refresh()
    if turn.config.compaction.auto and is_full(entries, turn):
        return Outcome.OVERFLOW
    recorder = await Recorder.open(run, prompt, turn)
    try:
        tools = await toolset(turn, run.form)
        calls = Calls(run, recorder, turn, tools)
        request = await shaped(turn, build(turn, prompt, project(entries), baseline, tools, taken))
        await recorder.started()
        finish = await _provider_turn(run, request, recorder, calls)
    except ModelError as error:
        return await _ended(run, recorder, turn, error)
    except BaseException:  # stopped, or an error of ours: what was said until now is kept
        await recorder.fold()
        raise
    goes_on = finish.reason == "tool-calls" and not run.rejected
    if run.form is not None:
        goes_on = judge(run, recorder, run.form, tried=NAME in calls.named, goes_on=goes_on)
    room = budget(turn.model, turn.config.compaction).limits()
    measured = {"used": finish.usage.total, "message": recorder.message.id}
    filling = {**estimate.filling(request), **room, **measured}
    await recorder.finished(finish, turn.model, partial(usage.step_finished, filling=filling))
    return Outcome.CONTINUE if goes_on else Outcome.DONE


async def _provider_turn(run: Run, request: ModelRequest, recorder: Recorder, calls: Calls) -> Finish:
    """Stream until the provider has finished and every call is settled; retries what can be retried."""
    attempt = 0
    while True:
        try:
            async with calls:
                return await _stream(request, recorder, calls)
        except ModelError as error:
            attempt += 1
            if calls.begun:  # what ran cannot be run again: the next step shows the model how far it came
                logger.warning("the stream broke after tool calls: %s", error.message)
                return Finish("tool-calls", recorder.usage)
            await pause(run, recorder, attempt, error)


async def _ended(run: Run, recorder: Recorder, turn: Turn, error: ModelError) -> Outcome:
    """The provider turn ended in an error; a request that did not fit is tried again when there is room."""
    overflow = isinstance(error, ContextOverflow)
    if overflow and not turn.config.compaction.auto:
        error = ContextOverflow(f"{error.message} {suggestion(turn)}")
    await failed(run, recorder, error)
    return Outcome.OVERFLOW if overflow and turn.config.compaction.auto else Outcome.DONE


async def _stream(request: ModelRequest, recorder: Recorder, calls: Calls) -> Finish:
    async with aclosing(stream(request)) as events:
        async for event in events:
            if isinstance(event, Finish):
                return Finish("tool-calls", event.usage) if calls.begun else event
            call = await recorder.take(event)
            if call is not None:
                calls.begin(call)
    raise ModelError("The model's answer ended without an end.", retryable=True)

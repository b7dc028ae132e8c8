"""One step: one Provider Turn, its tool calls settled, its cost counted."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from enum import Enum
from functools import partial

from django.utils.translation.trans_null import gettext_noop

from agents.agent.boundary import look
from agents.agent.calls.calls import Calls
from agents.agent.compaction import estimate
from agents.agent.compaction.entries import project
from agents.agent.compaction.estimate import budget
from agents.agent.compaction.overflow import is_full
from agents.agent.compaction.relief import suggestion
from agents.agent.context.epochs import ContextBlocked, admit
from agents.agent.run import Run
from agents.agent.steps import fallback
from agents.agent.steps.recorder import Recorder
from agents.agent.steps.request import build
from agents.agent.steps.sample import choice_now, sample
from agents.agent.steps.trouble import failed, pause
from agents.llm import stream
from agents.llm.counted import spend
from agents.llm.providers import UnknownModel
from agents.llm.types import ContextOverflow, Finish, ModelError, ModelRequest
from agents.plugins.request import history, shaped
from agents.toolkit.definitions import UnknownAgent
from agents.toolkit.turn import Turn
from agents.tools.registry import toolset
from agents.tools.structured import NAME, Form
from sessions.core.db import in_db
from sessions.core.store import provider_keys, usage
from sessions.core.wire.base import NamedError
from sessions.core.wire.messages import UserMessage

# What a step means for a turn whose answer has a form: done, once more, or in vain.


def judge(run: Run, recorder: Recorder, form: Form, *, tried: bool, goes_on: bool) -> bool:
    """Whether another step is due; what the message then has is written with the end of the step.

    `tried`: the model called the tool of the form in this step; `goes_on`: there would be another step by
    what else it did. An answer ends the turn, and so does one wrong answer too many. A model that ends in
    plain text is not asked again, as in OpenCode.
    """
    if form.answer is not None:
        recorder.message.structured = form.answer
        return False
    form.wrong += tried
    if goes_on and not form.spent:
        return True
    recorder.message.error = _unmet(form)
    run.error = recorder.message.error.wire()
    logger.warning("session %s: %s", run.session.id, recorder.message.error.message)
    return False


def _unmet(form: Form) -> NamedError:
    """`retries`: how many wrong answers went back to the model."""
    words = gettext_noop("The model gave no answer in the form that was asked for.")
    if form.wrong:
        words = f"The model's answer did not fit the schema, in {form.wrong} of {form.retries + 1} tries."
    retries = min(form.wrong, form.retries)
    return NamedError(name="StructuredOutputError", data={"message": words, "retries": retries})


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
        turn = await sample(run, choice_now(run, prompt))
        baseline = await admit(turn)
    except (UnknownModel, UnknownAgent, ContextBlocked) as error:
        await failed(run, await Recorder.open(run, prompt), error)
        return Outcome.DONE
    entries = await run.transcript.refresh()
    if turn.config.compaction.auto and is_full(entries, turn):
        return Outcome.OVERFLOW
    recorder = await Recorder.open(run, prompt, turn, after=entries[-1]["info"]["id"] if entries else "")
    begun = False
    try:
        while True:
            tools = await toolset(turn, run.form)
            calls = Calls(run, recorder, turn, tools)
            sent = await history(turn, project(entries))
            asked = build(turn, prompt, sent, baseline, tools, taken, run.exhausted)
            if run.longer and asked.settings.controls.max_output is None:
                asked = replace(asked, controls=replace(asked.controls, max_output=turn.model.output))
            request = await shaped(turn, asked)
            calls.offered = [spec.name for spec in request.tools]
            if not begun:
                await recorder.started()
            if turn.model.paid_by:
                await in_db(provider_keys.paid, recorder.message.id, turn.model.paid_by)
            begun, others = True, fallback.after(run, turn)
            try:
                finish = await _provider_turn(run, request, recorder, calls, patient=not others)
                break
            except ModelError as error:
                other = await fallback.choose(run, turn, others, error)
                if other is None:
                    raise
                await fallback.switch(run, recorder, turn, other, error)
            await look(run)
            turn = await sample(run, choice_now(run, prompt))
            await recorder.go_on_with(turn)
    except ModelError as error:
        return await _ended(run, recorder, turn, error)
    except BaseException:  # stopped, or an error of ours: what was said until now is kept
        await recorder.fold()
        raise
    goes_on = bool(calls.begun) and not run.rejected
    if run.form is not None:
        goes_on = judge(run, recorder, run.form, tried=NAME in calls.named, goes_on=goes_on)
    elif ended := _cut_short(finish):
        recorder.message.error = ended
        run.error = ended.wire()
    room = budget(turn.model, turn.config.compaction).limits()
    measured = {"used": finish.usage.total, "message": recorder.message.id}
    filling = {**estimate.filling(request), **room, **measured}
    write = partial(usage.step_finished, filling=filling, called=bool(calls.begun))
    await recorder.finished(finish, turn.model, write)
    return Outcome.CONTINUE if goes_on else Outcome.DONE


def _cut_short(finish: Finish) -> NamedError | None:
    """What the person is told of an answer that ended before its end, with a way on."""
    spent = finish.usage.output + finish.usage.reasoning
    if finish.reason == "length":
        at = f"{spent:,} output tokens" if spent else "its limit of output tokens"
        words = f"The answer was cut at {at}. Ask it to go on, or ask for smaller steps."
        return NamedError(name="MessageOutputLengthError", data={"message": words})
    if finish.reason == "content-filter":
        words = gettext_noop(
            "The model or its provider refused to answer. Say it in other words, or choose another model."
        )
        return NamedError(name="ContentFilterError", data={"message": words})
    return None


async def _provider_turn(
    run: Run, request: ModelRequest, recorder: Recorder, calls: Calls, *, patient: bool
) -> Finish:
    """Stream until the provider has finished and every call is settled; retries what can be retried, and
    once an answer that is none. `patient`: there is no other model to go on with."""
    attempt, vain = 0, False
    while True:
        try:
            async with calls:
                finish = await _stream(request, recorder, calls)
            words = _no_answer(finish, recorder, calls)
            if not words:
                return finish
            if run.form is not None:  # the judge of the form has its own words, and its own tries
                return replace(finish, reason="stop")
            said = words[vain]
            vain, again = True, not vain
            raise ModelError(said, retryable=again, headers=_AT_ONCE, usage=finish.usage)
        except ModelError as error:
            attempt += 1
            if calls.begun:  # what ran cannot be run again: the next step shows the model how far it came
                logger.warning("the stream broke after tool calls: %s", error.message)
                return Finish("tool-calls", error.usage)
            await spend(run.session.id, request.model, error.usage)
            await pause(run, recorder, attempt, error, patient=patient)


_AT_ONCE = {"retry-after": "0"}
"""Who answers in order is not busy."""


_NO_CALL = (
    gettext_noop("The model said that it would call a tool, and called none."),
    gettext_noop(
        "The model said that it would call a tool, and called none, in two tries. Choose another model."
    ),
)
_NOTHING = (
    gettext_noop("The model gave no answer."),
    gettext_noop("The model gave no answer, in two tries. Choose another model."),
)


def _no_answer(finish: Finish, recorder: Recorder, calls: Calls) -> Sequence[str]:
    """What is wrong with an answer that ended in order, at the first time and at the second; empty for
    nothing."""
    if finish.reason == "tool-calls" and not calls.begun:
        return () if recorder.ran else _NO_CALL
    if finish.reason in ("stop", "unknown") and not recorder.answered:
        return _NOTHING
    return ()


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
                recorder.run.longer |= call[1].cut_at is not None
                calls.begin(call)
    raise ModelError("The model's answer ended without an end.", retryable=True)

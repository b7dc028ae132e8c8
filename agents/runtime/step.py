"""One step: one Provider Turn, its tool calls settled, its cost counted (seed 004 §3.2, §12)."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import aclosing
from dataclasses import dataclass

from agents.catalog import model_for
from agents.configuration import load
from agents.context import system
from agents.definitions import Agent, UnknownAgent, choose
from agents.llm import stream
from agents.llm.providers import UnknownModel
from agents.llm.retry import delay
from agents.llm.types import AuthFailed, ContextOverflow, Finish, Model, ModelError, ModelRequest, ToolSpec
from agents.permission.rules import Rule, hidden_tools
from agents.runtime.calls import Calls
from agents.runtime.history import request_messages
from agents.runtime.recorder import Recorder
from agents.runtime.rules import effective_rules
from agents.runtime.run import Run
from agents.tools.registry import BUILTIN
from sessions.db import in_db
from sessions.ids import now
from sessions.store import messages
from sessions.store import sessions as session_store
from sessions.wire.base import NamedError
from sessions.wire.messages import UserMessage
from sessions.wire.session import Status

logger = logging.getLogger(__name__)

MAX_RETRIES = 8

OUT_OF_STEPS = (
    "You have reached the limit of steps for this request; no tools are available now. "
    "Sum up what was done, what was found, and what remains to do."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """What is sampled when a provider turn starts and stays so until it ends (seed 002)."""

    agent: Agent
    model: Model
    rules: list[Rule]


async def step(run: Run, prompt: UserMessage, number: int) -> bool:
    """Take one step for a promoted prompt; True when another one is due."""
    recorder = await Recorder.open(run, prompt)
    try:
        turn = await _sample(run, prompt)
        await recorder.started(turn.agent.name, turn.model)
        calls = Calls(run, recorder, turn.agent.name, turn.rules, turn.model)
        request = await _request(run, prompt, turn, number)
        finish = await _provider_turn(run, request, recorder, calls)
    except (ModelError, UnknownModel, UnknownAgent) as error:
        await _failed(run, recorder, error)
        return False
    except BaseException:  # stopped, or an error of ours: what was said until now is kept
        await recorder.fold()
        raise
    await recorder.finished(finish, turn.model)
    return finish.reason == "tool-calls" and not run.rejected


async def _sample(run: Run, prompt: UserMessage) -> Turn:
    loaded = load(run.directory)
    unreadable = any(problem.level == "error" and not problem.key for problem in loaded.problems)
    agent = choose(loaded.config, prompt.agent, unreadable=unreadable)
    model = await model_for(run.directory, f"{prompt.model.provider_id}/{prompt.model.model_id}")
    return Turn(agent, model, effective_rules(agent, model, run.session))


async def _request(run: Run, prompt: UserMessage, turn: Turn, number: int) -> ModelRequest:
    rows = await in_db(messages.history, run.session.id)
    exhausted = turn.agent.steps is not None and number >= turn.agent.steps
    hidden = hidden_tools(((tool.name, tool.permission) for tool in BUILTIN), turn.rules)
    chosen = prompt.tools or {}
    offered = [tool for tool in BUILTIN if tool.name not in hidden and chosen.get(tool.name, True)]
    extra = "\n\n".join(text for text in (prompt.system, OUT_OF_STEPS if exhausted else "") if text)
    is_git = run.session.project.vcs == "git"
    return ModelRequest(
        model=turn.model,
        system=system.texts(turn.agent, turn.model, run.directory, run.worktree, is_git, extra),
        messages=request_messages(rows, turn.model),
        tools=[]
        if exhausted or not turn.model.tool_call
        else [
            ToolSpec(tool.name, tool.description, tool.schema()) for tool in offered if tool.name != "invalid"
        ],
        temperature=turn.agent.temperature,
        top_p=turn.agent.top_p,
        options=turn.agent.options,
    )


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
    named = _named(error)
    run.error = named.wire()
    await recorder.failed(named)


def _named(error: Exception) -> NamedError:
    """The wire's error of an exception."""
    if isinstance(error, ContextOverflow):
        return NamedError(name="ContextOverflowError", data={"message": error.message})
    if isinstance(error, AuthFailed):
        return NamedError(name="ProviderAuthError", data={"message": error.message, "providerID": ""})
    if isinstance(error, ModelError):
        data = {"message": error.message, "statusCode": error.status, "isRetryable": error.retryable}
        return NamedError(
            name="APIError", data={key: value for key, value in data.items() if value is not None}
        )
    return NamedError(name="UnknownError", data={"message": str(error)})

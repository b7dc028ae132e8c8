"""Answer a request for a compaction: a summary takes the place of what was said, and a new epoch begins.

Until the
summary is complete, which is one transaction, nothing changes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.utils.translation.trans_null import gettext_noop

from agents.agent.compaction import estimate, tail
from agents.agent.compaction.entries import Entry, id_of, role_of
from agents.agent.compaction.estimate import Budget, budget, size
from agents.agent.compaction.overflow import used
from agents.agent.compaction.state import state
from agents.agent.run import Run
from agents.agent.steps.history import request_messages
from agents.agent.steps.recorder import Recorder
from agents.agent.steps.request import base_prompt, settings_of
from agents.agent.steps.sample import Choice, choice_now, sample
from agents.agent.steps.trouble import failed, pause
from agents.llm import stream
from agents.llm.counted import spend
from agents.llm.providers import UnknownModel
from agents.llm.types import (
    ChatMessage,
    Content,
    ContextOverflow,
    FileContent,
    Finish,
    Model,
    ModelError,
    ModelRequest,
    ProviderCallContent,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
    ToolCallContent,
    ToolResultContent,
)
from agents.plugins.hooks import trigger
from agents.toolkit.definitions import UnknownAgent, choose
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.store import compaction, context, inbox, pins
from sessions.core.store import sessions as session_store
from sessions.core.wire.messages import UserMessage
from sessions.core.wire.parts import CompactionPart

GO_ON = (
    "The conversation was summed up to make room. If there are next steps, take them now; if you are not "
    "sure how to go on, ask."
)
ANSWER = (
    "The conversation before the last request was summed up to make room. That request has not been answered "
    "yet: answer it now."
)


async def compact(run: Run, prompt: UserMessage, asked: CompactionPart) -> bool:
    """Have the conversation before `prompt` summed up. Whether the session goes on by itself."""
    try:
        turn, writer = await _sampled(run, prompt)
    except (UnknownAgent, UnknownModel) as error:
        await failed(run, await Recorder.open(run, prompt), error)
        return False
    entries = [entry for entry in await run.transcript.refresh() if id_of(entry) < prompt.id]
    plan = tail.plan(entries, turn, goes_on=asked.auto)
    recorder = await Recorder.open(run, prompt, writer, summary=True)
    try:
        await recorder.started()
        written = await write(run, recorder, writer, plan.summed_up)
    except ModelError as error:
        await failed(run, recorder, error)
        return False
    except BaseException:  # stopped: what was said before is still in force
        await recorder.fold()
        raise
    known = await state(run.session)
    stays = [*([plan.prompt] if plan.prompt else []), *plan.kept]
    pinned = await in_db(_pinned, turn.session.id, set(map(id_of, stays)))
    filling = await _filling(turn, stays, f"{written.text}{known}{pinned}") | {"message": recorder.message.id}
    before = used(entries, turn.model) or _tokens([*plan.summed_up, *plan.kept], turn)
    asked.tail_start_id = plan.tail_start_id
    asked.metadata = {"messages": plan.count, "before": before, "after": filling["used"]}
    asked.metadata |= {"state": known} if known else {}
    asked.metadata |= {"prompt": id_of(plan.prompt)} if plan.prompt else {}
    goes_on = asked.auto and (bool(plan.unanswered) or await _goes_on(turn))
    follow_up = _follow_up(prompt, plan) if goes_on else None
    finish = partial(compaction.finish, asked=asked, filling=filling, follow_up=follow_up)
    await recorder.finished(written.finish, writer.model, finish)
    run.transcript.forget()
    return goes_on


async def _goes_on(turn: Turn) -> bool:
    """Whether plugins let the agent go on where no request waits for its answer."""
    asked = {
        "sessionID": turn.session.id,
        "agent": turn.agent.name,
        "model": {"id": turn.model.model_id, "providerID": turn.model.provider_id},
    }
    made = await trigger(turn.session, "experimental.compaction.autocontinue", asked, {"enabled": True})
    return bool(made["enabled"])


async def _sampled(run: Run, prompt: UserMessage) -> tuple[Turn, Turn]:
    """The conversation's turn, and that of the agent that sums it up. Raises UnknownAgent or UnknownModel."""
    choice = choice_now(run, prompt)
    turn = await sample(run, choice)
    agent = choose(turn.config, "compaction")
    return turn, await sample(run, Choice(agent.name, agent.model or choice.model, agent.variant))


def _tokens(entries: list[Entry], turn: Turn) -> int:
    return estimate.messages_tokens(request_messages(entries, turn.model))


def _pinned(session_id: str, stays: Collection[str]) -> str:
    """What is pinned that the next request has anew in its system text: what stays has the rest."""
    epoch = context.epoch(session_id)
    told = epoch.baseline if epoch else ""
    found = [pin for pin in pins.listing(session_id) if pin.id not in told and pin.message_id not in stays]
    return "".join(pin.text for pin in found)


async def _filling(turn: Turn, stays: list[Entry], text: str) -> dict[str, Any]:
    """What the window will hold: of the last step what every request begins with, and what is left to say."""
    session = await in_db(session_store.get, turn.session.id)
    last = session.window if session else {}
    said = estimate.tokens(estimate.size(text)) + _tokens(stays, turn)
    kinds = {kind: int(last.get(kind, 0)) for kind in ("system", "instructions", "tools")}
    kinds |= {"messages": said, "outputs": 0}
    return {**kinds, "used": sum(kinds.values()), **budget(turn.model, turn.config.compaction).limits()}


def _follow_up(prompt: UserMessage, plan: tail.Plan) -> dict[str, Any]:
    """What the session goes on with: the request that waits for its answer, or the next steps. It is done as
    the last request asked for (agent, model, system text, tools)."""
    requests = [entry for entry in [*plan.summed_up, *plan.kept] if role_of(entry) == "user"]
    last = requests[-1]["info"] if requests else {}
    text = ANSWER if plan.unanswered else GO_ON
    return {
        "parts": [{"type": "text", "text": text, "synthetic": True, "metadata": {inbox.GOES_ON: True}}],
        "agent": prompt.agent,
        "provider_id": prompt.model.provider_id,
        "model_id": prompt.model.model_id,
        "variant": prompt.model.variant or "",
        "system": last.get("system") or "",
        "tools": last.get("tools"),
    }


# Have the summary written: the record of the conversation goes to the agent `compaction`, shortened until it
# fits.

MOST_TRIES = 4
"""How often the record is sent, each time half as long, when it does not fit."""
FRAME_TOKENS = 200
"""The words around the record."""
LEAST_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class Written:
    finish: Finish
    text: str


async def write(run: Run, recorder: Recorder, turn: Turn, entries: Sequence[Entry]) -> Written:
    """The summary of projected entries, streamed into the message. Raises ModelError."""
    found = blocks(entries, turn.model)
    if not found:
        raise ModelError(gettext_noop("There is nothing to compact yet."))
    room = budget(turn.model, turn.config.compaction)
    instructions = await _instructions(turn)
    spare = room.usable - estimate.tokens(sum(map(estimate.size, instructions))) - FRAME_TOKENS
    most = min(max(spare * estimate.BYTES_PER_TOKEN, LEAST_BYTES), whole_size(found))
    attempt = tries = 0
    while True:
        try:
            return await _stream(_request(turn, room, instructions, text_of(found, most)), recorder)
        except (ContextOverflow, _CutShort) as error:
            await spend(run.session.id, turn.model, error.usage)
            tries += 1
            if tries == MOST_TRIES:
                raise error if isinstance(error, _CutShort) else _too_long(turn, room, most, error) from error
            await recorder.retrying(tries, error)
            most = max(most // 2, LEAST_BYTES)
        except ModelError as error:
            await spend(run.session.id, turn.model, error.usage)
            attempt += 1
            await pause(run, recorder, attempt, error)


async def _instructions(turn: Turn) -> tuple[str, str]:
    """The system text, and what plugins want to be remembered."""
    given: dict[str, Any] = {"context": [], "prompt": None}
    made = await trigger(
        turn.session, "experimental.session.compacting", {"sessionID": turn.session.id}, given
    )
    return made["prompt"] or base_prompt(turn), "\n\n".join(made["context"])


def _request(turn: Turn, room: Budget, instructions: tuple[str, str], text: str) -> ModelRequest:
    """No tools; the answer may be as long as what is kept free for it."""
    system, more = instructions
    settings = settings_of(turn)
    most = settings.controls.max_output or max(room.reserved, room.window // 8)
    words = f"This is the conversation.\n\n<conversation>\n{text}\n</conversation>\n\n"
    words += f"Keep in mind as well:\n\n{more}\n\n" if more else ""
    return ModelRequest(
        model=turn.model,
        system=[system],
        messages=[ChatMessage("user", [TextContent(f"{words}Write the summary now.")])],
        controls=replace(settings.controls, max_output=most),
        options=settings.options,
        body=settings.body,
    )


async def _stream(request: ModelRequest, recorder: Recorder) -> Written:
    """Only words count: there are no tools to be called."""
    said: list[str] = []
    async with aclosing(stream(request)) as events:
        async for event in events:
            if isinstance(event, Finish):
                return _written(event, "".join(said))
            if isinstance(event, TextDelta):
                said.append(event.text)
            if isinstance(event, TextDelta | ReasoningDelta | ReasoningEnd):
                await recorder.take(event)
    raise ModelError(gettext_noop("The model's summary ended without an end."), retryable=True)


class _CutShort(ModelError):
    """The summary lacks its end."""


def _written(finish: Finish, text: str) -> Written:
    if not text.strip():
        words = gettext_noop("The conversation was not compacted: the model wrote no summary.")
        raise ModelError(words, usage=finish.usage)
    if finish.reason in ("length", "content-filter"):
        why = "was cut at its limit of output tokens" if finish.reason == "length" else "was cut by a filter"
        words = f"The conversation was not compacted: the summary {why}. Nothing was lost."
        raise _CutShort(words, usage=finish.usage)
    return Written(finish, text)


def _too_long(turn: Turn, room: Budget, most: int, error: ModelError) -> ContextOverflow:
    return ContextOverflow(
        f"The conversation could not be compacted: shortened to about {estimate.tokens(most):,} tokens it "
        f"still did not fit {turn.model.ref} ({room.words()}). Nothing was lost. Choose a model with a "
        f"larger window, or start a new session. The provider said: {error.message}"
    )


# The conversation as a text to be summed up, cut to a size.
#
# One text rather than messages: it goes to any model whoever held the conversation, no provider asks for the
# tools that it speaks of, and what is in it is plainly no instruction.

MOST_OF_CALL = 2_000
"""Bytes of what a tool was given, or gave back: more of it is no matter of a summary."""
SHORT_OUTPUT = 600
"""Bytes that are left of a tool's output when room is needed."""
LEFT_OUT = "(The beginning of the conversation is left out here: it was too long.)"
_WHO = {"user": "Person", "assistant": "Agent", "tool": "Tool", "system": "Surroundings"}


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of the record; `is_output` is what a tool gave back."""

    who: str
    text: str
    is_output: bool = False

    @property
    def size(self) -> int:
        return size(self.text) + len(self.who) + 8

    def __str__(self) -> str:
        return f"[{self.who}]\n{self.text}"


def blocks(entries: Sequence[Entry], model: Model) -> list[Block]:
    """The record of projected entries."""
    return [block for message in request_messages(entries, model) for block in _of(message)]


def text_of(found: Sequence[Block], most: int) -> str:
    """The record in at most about so many bytes: old outputs are shortened first, then old blocks go. The
    first block stays while it can, as it holds what was wanted or the summary before."""
    kept = _without_old_outputs(found, most)
    if whole_size(kept) <= most:
        return _joined(kept)
    room = most
    chosen: list[Block] = []
    first = _cut(kept[0], most // 3) if kept else None
    room -= first.size if first else 0
    for block in reversed(kept[1:]):
        if block.size > room:
            if not chosen:  # the last words matter most
                chosen.append(_cut(block, room))
            break
        room -= block.size
        chosen.append(block)
    gap = [Block("Note", LEFT_OUT)] if len(chosen) < len(kept) - 1 else []
    return _joined([*([first] if first else []), *gap, *reversed(chosen)])


def whole_size(found: Sequence[Block]) -> int:
    return sum(block.size for block in found)


def _joined(found: Sequence[Block]) -> str:
    return "\n\n".join(map(str, found))


def _without_old_outputs(found: Sequence[Block], most: int) -> list[Block]:
    """The oldest outputs shortened, no more of them than it takes."""
    kept, excess = list(found), whole_size(found) - most
    for at, block in enumerate(found):
        if excess <= 0:
            break
        if block.is_output and block.size > SHORT_OUTPUT:
            kept[at] = _cut(block, SHORT_OUTPUT)
            excess -= block.size - kept[at].size
    return kept


def _cut(block: Block, most: int) -> Block:
    """Its head and its tail; a text that is hardly longer than these stays as it is."""
    half = max(most // 2 - 30, 40)
    data = block.text.encode("utf-8", "replace")
    if block.size <= most or len(data) <= 2 * half:
        return block
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return replace(block, text=f"{head}\n[... {len(data) - 2 * half} bytes left out ...]\n{tail}")


def _of(message: ChatMessage) -> Iterator[Block]:
    for content in message.content:
        text = _text(content)
        if text:
            block = Block(_WHO[message.role], text, isinstance(content, ToolResultContent))
            yield _cut(block, MOST_OF_CALL) if isinstance(content, _OF_TOOLS) else block


_OF_TOOLS = (ToolCallContent, ToolResultContent, ProviderCallContent)


def _text(content: Content) -> str:
    match content:
        case TextContent(text):
            return text
        case ToolCallContent():
            return f"calls {content.name} with {json.dumps(dict(content.input), ensure_ascii=False)}"
        case ToolResultContent():
            return f"{content.name} {'failed' if content.is_error else 'gave'}:\n{content.output}"
        case ProviderCallContent(name, output) if output:
            return f"{name}, which the provider ran, gave:\n{output}"
        case FileContent():
            return f"(attached: {content.filename or content.mime})"
    return ""

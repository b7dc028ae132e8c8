"""Make room in a window that is full: prune, else ask for a compaction, else say why nothing helps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agents.agent.compaction import estimate, tail
from agents.agent.compaction.entries import (
    Entry,
    id_of,
    is_complete,
    is_summary,
    is_written,
    role_of,
    says_something,
    tool_parts,
)
from agents.agent.compaction.estimate import budget
from agents.agent.compaction.overflow import is_stuck, used
from agents.agent.run import Run
from agents.agent.steps.recorder import Recorder
from agents.agent.steps.sample import choice_now, sample
from agents.agent.steps.trouble import failed
from agents.config.configuration import load
from agents.llm.types import ContextOverflow
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.store import compaction
from sessions.core.wire.messages import UserMessage


async def make_room(run: Run, prompt: UserMessage) -> bool:
    """After a step that did not fit. Whether the turn can go on: with the same prompt after pruning, or with
    the compaction that waits in the inbox then."""
    turn = await sample(run, choice_now(run, prompt))
    entries = list(await run.transcript.refresh())
    attempt = _refused_attempt(entries)
    said = (run.error or {}).get("data", {}).get("message", "")
    if await prune(run):
        await _discard(run, attempt)
    elif problem := _hopeless(entries, turn, said):
        await _discard(run, attempt)
        await failed(run, await Recorder.open(run, prompt, turn), ContextOverflow(problem))
        return False
    else:
        await in_db(
            compaction.request,
            run.session,
            overflow=bool(run.error),
            instead_of=attempt,
            agent=prompt.agent,
            provider_id=turn.model.provider_id,
            model_id=turn.model.model_id,
            variant=turn.variant,
        )
        run.transcript.forget()
    run.error = None
    return True


async def _discard(run: Run, attempt: str) -> None:
    await in_db(compaction.discard, run.session.id, attempt)
    run.transcript.forget()


def suggestion(turn: Turn) -> str:
    """What to add to a provider's error when nothing is compacted without being asked."""
    return (
        "Automatic compaction is switched off (`compaction.auto`): send /compact to sum up the conversation, "
        f"or start a new session. Of the model, {budget(turn.model, turn.config.compaction).words()}."
    )


def _refused_attempt(entries: Sequence[Entry]) -> str:
    """The id of the last message when it is an answer that the provider refused to begin."""
    if not entries or is_summary(entries[-1]) or says_something(entries[-1]):
        return ""
    error = entries[-1]["info"].get("error") or {}
    return id_of(entries[-1]) if error.get("name") == "ContextOverflowError" else ""


def _hopeless(entries: Sequence[Entry], turn: Turn, said: str) -> str:
    """Why a compaction would not help; empty when it may."""
    room = budget(turn.model, turn.config.compaction)
    provider = f" The provider said: {said}" if said else ""
    if tail.plan(entries, turn).is_empty:
        return (
            f"The first request does not fit {turn.model.ref}, and there is nothing before it that could be "
            f"compacted: {room.words()}.{provider}"
        )
    if is_stuck(entries, room.usable):
        counted = used(entries, turn.model)
        now = f" ({counted:,} tokens)" if counted else ""
        return (
            f"The conversation does not fit {turn.model.ref} even right after it was compacted{now}: "
            f"{room.words()}. Choose a model with a larger window, shorten the instructions, unpin "
            f"something, or start a new session.{provider}"
        )
    return ""


PROTECTED_TURNS = 2
PROTECTED_TOKENS = 40_000
LEAST_TOKENS = 20_000
"""What pruning must win: each time it is done the provider's cache of the history is lost."""
NEVER = frozenset({"skill"})


async def prune(run: Run) -> int:
    """Clear what may be cleared, durably and at once; how many tokens that won, about. The last turns are
    none of it, so it is enough to know what was before the last step."""
    found, won = choose(run.transcript.entries)
    if not found or not (await asyncio.to_thread(load, run.directory)).config.compaction.prune:
        return 0
    await in_db(compaction.clear_outputs, found)
    run.transcript.forget()
    return won


def choose(entries: Sequence[Entry]) -> tuple[list[dict[str, Any]], int]:
    """The tool parts whose output goes, and the tokens that are won; nothing when they are too few.

    From the end backward: the last two turns and 40,000 tokens of output before them stay, and so does what
    an earlier pruning or compaction has taken care of.
    """
    found: list[dict[str, Any]] = []
    turns = seen = won = 0
    for entry in reversed(entries):
        if is_summary(entry) and is_complete(entry):
            break
        if turns < PROTECTED_TURNS:
            turns += is_written(entry)
            if turns < PROTECTED_TURNS:
                continue
        if role_of(entry) != "assistant":
            continue
        for part in reversed(tool_parts([entry])):
            if part["state"]["time"].get("compacted"):
                return (found, won) if won >= LEAST_TOKENS else ([], 0)
            if part["tool"] in NEVER:
                continue
            tokens = estimate.tokens(estimate.size(part["state"]["output"]))
            seen += tokens
            if seen > PROTECTED_TOKENS:
                found.append(part)
                won += tokens
    return (found, won) if won >= LEAST_TOKENS else ([], 0)

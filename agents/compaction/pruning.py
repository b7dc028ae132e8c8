"""Take old tool outputs out of what the model is sent; people still read them (seed 004 §4.2, stage 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.compaction import estimate
from agents.compaction.entries import Entry, is_complete, is_summary, is_written, tool_parts
from agents.config import Config
from agents.runtime.run import Run
from sessions.db import in_db
from sessions.store import compaction

PROTECTED_TURNS = 2
PROTECTED_TOKENS = 40_000
LEAST_TOKENS = 20_000
"""What pruning must win: each time it is done the provider's cache of the history is lost."""
NEVER = frozenset({"skill"})


async def prune(run: Run, config: Config) -> int:
    """Clear what may be cleared, durably and at once; how many tokens that won, about."""
    if not config.compaction.prune:
        return 0
    found, won = choose(await run.transcript.refresh())
    if not found:
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
        turns += is_written(entry)
        if turns < PROTECTED_TURNS:
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

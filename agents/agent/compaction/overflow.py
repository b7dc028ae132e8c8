"""Whether the conversation still fits the window, and whether a compaction would help."""

from __future__ import annotations

from collections.abc import Sequence

from agents.agent.compaction import estimate
from agents.agent.compaction.entries import (
    Entry,
    is_complete,
    is_step,
    is_summary,
    is_written,
    project,
    prompt_tokens,
    tool_parts,
    total_tokens,
)
from agents.agent.compaction.estimate import budget
from agents.agent.steps.history import request_messages
from agents.llm.types import Model
from agents.toolkit.turn import Turn

MOST_IN_A_ROW = 3
"""Compactions with no more than one step after each, before it is clear that they do not help."""


def used(entries: Sequence[Entry], model: Model) -> int:
    """Tokens of the window that the next request begins with: what the provider counted for the last finished
    step, less what was pruned since. 0 when no step has ended since the last compaction."""
    stepped = False
    for entry in reversed(entries):
        if is_summary(entry) and is_complete(entry):
            break
        if is_step(entry):
            stepped, info = True, entry["info"]
            if total := total_tokens(info):
                return max(total - _pruned_after(entries, info["time"]["completed"]), 0)
    # A provider that does not count.
    return estimate.messages_tokens(request_messages(project(entries), model)) if stepped else 0


def is_full(entries: Sequence[Entry], turn: Turn) -> bool:
    """Whether the next request would leave no room for its answer."""
    return used(entries, turn.model) >= budget(turn.model, turn.config.compaction).usable


def _pruned_after(entries: Sequence[Entry], moment: int) -> int:
    cleared = (
        part for part in tool_parts(entries) if (part["state"]["time"].get("compacted") or 0) >= moment
    )
    return sum(estimate.tokens(estimate.size(part["state"]["output"])) for part in cleared)


def is_stuck(entries: Sequence[Entry], usable: int) -> bool:
    """Whether compactions no longer help, so that one more would be the beginning of a loop: the request
    right after the last one did not fit either, or several came with hardly a step between."""
    spans: list[list[Entry]] = []
    steps: list[Entry] = []
    for entry in reversed(entries):
        if is_written(entry):
            break
        if is_step(entry):
            steps.insert(0, entry)
        elif is_summary(entry) and is_complete(entry):
            spans.append(steps)
            steps = []
    if not spans:
        return False
    last = spans[0]
    still_full = not last or (len(last) == 1 and prompt_tokens(last[0]["info"]) >= usable)
    return still_full or (len(spans) >= MOST_IN_A_ROW and all(len(span) <= 1 for span in spans))

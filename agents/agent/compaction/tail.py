"""What a compaction sums up, and the end of the conversation that it leaves as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.agent.compaction.entries import Entry, id_of, last_summary, project, role_of, says_something
from agents.agent.compaction.estimate import budget, messages_tokens
from agents.agent.steps.history import request_messages
from agents.toolkit.turn import Turn

TURNS = 2
MOST_TOKENS = 8_000
"""The default of `compaction.preserve_recent_tokens`, if no more than a quarter of what is usable."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Projected entries; `summed_up` begins with the summary before, if there is one."""

    summed_up: Sequence[Entry]
    kept: Sequence[Entry]
    earlier: int
    """How many entries of `summed_up` are the summary before."""
    unanswered: bool
    """Whether a prompt at the end of `kept` waits for its answer."""

    @property
    def is_empty(self) -> bool:
        """Nothing was said yet that could be summed up."""
        return not self.summed_up

    @property
    def count(self) -> int:
        """Messages that the summary takes the place of."""
        return len([entry for entry in self.summed_up[self.earlier :] if role_of(entry) != "system"])

    @property
    def tail_start_id(self) -> str | None:
        return next((id_of(entry) for entry in self.kept if role_of(entry) != "system"), None)


def plan(entries: Sequence[Entry], turn: Turn) -> Plan:
    """Divide a history. What nobody has answered yet is always kept, and before it so many whole turns as the
    configuration asks for and its tokens allow (`tail_turns`, 2 by default, and `preserve_recent_tokens`).
    When nothing would be left to sum up, only what is unanswered is kept."""
    said = project(entries)
    earlier = 0 if last_summary(entries) is None else 2
    unanswered = _unanswered(said, earlier)
    start = _start(said, earlier, unanswered, turn)
    if all(role_of(entry) == "system" for entry in said[earlier:start]):
        start = unanswered
    summed_up = said[:start]
    if all(role_of(entry) == "system" for entry in summed_up):
        summed_up = []
    return Plan(summed_up, said[start:], earlier, unanswered < len(said))


def _start(said: Sequence[Entry], least: int, end: int, turn: Turn) -> int:
    """Where the first of the last whole turns before `end` begins that are to stay."""
    start, config = end, turn.config.compaction
    turns = TURNS if config.tail_turns is None else config.tail_turns
    room = config.preserve_recent_tokens
    if room is None:
        room = min(MOST_TOKENS, budget(turn.model, config).usable // 4)
    begins = [at for at in reversed(range(least, end)) if role_of(said[at]) == "user"]
    for at in begins[:turns]:
        if messages_tokens(request_messages(said[at:end], turn.model)) > room:
            break
        start = at
    return start


def _unanswered(said: Sequence[Entry], least: int) -> int:
    """Where the prompts at the end begin that have no answer, or only attempts at one."""
    start = len(said)
    for at in reversed(range(least, len(said))):
        if role_of(said[at]) == "assistant" and says_something(said[at]):
            break
        if role_of(said[at]) == "user":
            start = at
    return start

"""What a compaction sums up, and the end of the conversation that it leaves as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.agent.compaction.entries import (
    Entry,
    id_of,
    is_carried,
    is_written,
    last_summary,
    project,
    role_of,
    says_something,
)
from agents.agent.compaction.estimate import budget, messages_tokens
from agents.agent.steps.history import request_messages
from agents.toolkit.turn import Turn

TURNS = 2
STEPS = 2
"""Of one long turn, which stay where all of it would."""
MOST_TOKENS = 8_000
"""The default of `compaction.preserve_recent_tokens`, if no more than a quarter of what is usable."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Projected entries; `summed_up` begins with the summary before, if there is one. `prompt` is what the
    person wanted last, where that is not in `kept` and work on it goes on: it stays, before `kept`."""

    summed_up: Sequence[Entry]
    kept: Sequence[Entry]
    earlier: int
    """How many entries of `summed_up` are the summary before."""
    prompt: Entry | None
    unanswered: bool
    """Whether a prompt at the end of `kept` waits for its answer."""

    @property
    def is_empty(self) -> bool:
        """Nothing was said yet that could be summed up."""
        return not self.summed_up

    @property
    def count(self) -> int:
        """Messages that the summary takes the place of."""
        said = [entry for entry in self.summed_up[self.earlier :] if not is_carried(entry)]
        return len([entry for entry in said if role_of(entry) != "system"])

    @property
    def tail_start_id(self) -> str | None:
        return next((id_of(entry) for entry in self.kept if role_of(entry) != "system"), None)


def plan(entries: Sequence[Entry], turn: Turn, *, goes_on: bool = False) -> Plan:
    """Divide a history. What nobody has answered yet is always kept, and before it so many whole turns as the
    configuration asks for and its tokens allow (`tail_turns`, 2 by default, and `preserve_recent_tokens`). Of
    a turn that is too long for that its last steps are kept, with the prompt that it works on. When nothing
    would be left to sum up, only what is unanswered is kept, and the last steps of one long turn. `goes_on`:
    the session works on after it."""
    said = project(entries)
    earlier = 0 if last_summary(entries) is None else 2
    unanswered = _unanswered(said, earlier)
    start = _start(said, earlier, unanswered, turn)
    if not any(_counts(entry) for entry in said[earlier:start]):
        start = _last_steps(said, earlier, unanswered, turn)
    summed_up = said[:start]
    if all(role_of(entry) == "system" for entry in summed_up):
        summed_up = []
    kept = said[start:]
    is_wanted = (goes_on or kept) and not any(map(is_written, kept))
    prompt = _prompt(said[:start], turn) if is_wanted else None
    return Plan(summed_up, kept, earlier, prompt, unanswered < len(said))


def _start(said: Sequence[Entry], least: int, end: int, turn: Turn) -> int:
    """Where the first of the last whole turns before `end` begins that are to stay; else the first step."""
    start, room = end, _room(turn)
    begins = [at for at in reversed(range(least, end)) if _begins(said[at])]
    for at in begins[: _turns(turn)]:
        if _tokens(said[at:end], turn) > room:
            return _first_step(said, at, start, room - _tokens(said[start:end], turn), turn)
        start = at
    return start


def _first_step(said: Sequence[Entry], prompt: int, end: int, room: int, turn: Turn) -> int:
    """Where the last steps of a turn begin that fit beside its prompt; `end` when none does."""
    start, room = end, room - _tokens(said[prompt : prompt + 1], turn)
    for at in reversed(range(prompt + 1, end)):
        room -= _tokens(said[at : at + 1], turn)
        if room < 0:
            break
        if role_of(said[at]) == "assistant":
            start = at
    return start


def _last_steps(said: Sequence[Entry], least: int, end: int, turn: Turn) -> int:
    """Of a history of one turn, which is longer by what its provider counted than by its texts."""
    steps = [at for at in range(least, end) if says_something(said[at]) and role_of(said[at]) == "assistant"]
    is_one = sum(_begins(entry) for entry in said[least:end]) == 1
    return steps[-STEPS] if is_one and len(steps) > STEPS and _turns(turn) else end


def _prompt(said: Sequence[Entry], turn: Turn) -> Entry | None:
    """The person's last one, unless it is too long to be kept."""
    prompt = next((entry for entry in reversed(said) if is_written(entry)), None)
    return prompt if prompt and _tokens([prompt], turn) <= _room(turn) else None


def _turns(turn: Turn) -> int:
    given = turn.config.compaction.tail_turns
    return TURNS if given is None else given


def _room(turn: Turn) -> int:
    """Tokens of what stays, besides what is unanswered."""
    given = turn.config.compaction.preserve_recent_tokens
    return (
        min(MOST_TOKENS, budget(turn.model, turn.config.compaction).usable // 4) if given is None else given
    )


def _tokens(entries: Sequence[Entry], turn: Turn) -> int:
    return messages_tokens(request_messages(entries, turn.model))


def _begins(entry: Entry) -> bool:
    return role_of(entry) == "user" and not is_carried(entry)


def _counts(entry: Entry) -> bool:
    return role_of(entry) != "system" and not is_carried(entry)


def _unanswered(said: Sequence[Entry], least: int) -> int:
    """Where the prompts at the end begin that have no answer, or only attempts at one."""
    start = len(said)
    for at in reversed(range(least, len(said))):
        if role_of(said[at]) == "assistant" and says_something(said[at]):
            break
        if _begins(said[at]):
            start = at
    return start

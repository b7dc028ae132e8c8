"""What other permission rules would have made of the calls of a project that were decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.config.configuration import load
from agents.config.reader import merge, patched
from agents.config.schema import AgentConfig, Config
from agents.config.written import Written, written
from agents.toolkit.definitions import UnknownAgent, choose, default_name
from agents.toolkit.permission.rules import judge
from agents.web.configuration.catalogue import at
from agents.web.configuration.values import nested
from sessions.core.models import Decision

MOST = 500
"""Decisions that are looked through, the newest."""
_ASKED = ("allow", "deny")
_NO_CALL = "preset"  # how much is asked was chosen
_RULES = "permission"


@dataclass(frozen=True, slots=True)
class Turned:
    """Calls, `count` of the same, that rules decide `before` so and `after` a change so."""

    permission: str
    text: str
    before: str
    after: str
    count: int


@dataclass(frozen=True, slots=True)
class Past:
    """`calls` that were looked at, by the rules of an `agent`; those that would be decided otherwise."""

    agent: str
    calls: int
    turned: Sequence[Turned]

    @property
    def count(self) -> int:
        return sum(one.count for one in self.turned)


def is_about_rules(path: Sequence[str]) -> bool:
    """Whether a setting has rules: of all agents, or of one."""
    return tuple(path) == (_RULES,) or (len(path) == 3 and path[0] == "agent" and path[2] == _RULES)


def past(
    directory: Path,
    path: Sequence[str],
    patch: Mapping[str, Any],
    decisions: Iterable[Decision],
    *,
    own: bool,
) -> Past | None:
    """What a change of the rules at a `path`, in the person's `own` file or the project's, would make of
    decisions; None for an agent that there is not. By rules alone: modes of sessions and what was saved
    beyond a call are left out. Blocks."""
    config = load(directory).config
    agent = path[1] if len(path) == 3 else default_name(config)
    try:
        before = choose(config, agent).permission
        after = choose(
            _changed(config, path, _value(directory, config, path, patch, own=own)), agent
        ).permission
    except UnknownAgent:
        return None
    calls = 0
    found: Counter[tuple[str, str, str, str]] = Counter()
    for decision in decisions:
        if decision.verdict in _ASKED and decision.permission != _NO_CALL:
            calls += 1
            asked = (decision.permission, decision.patterns)
            now, then = (judge(*asked, rules, ()).action for rules in (before, after))
            if now != then:
                found[decision.permission, ", ".join(map(str, decision.patterns)), now, then] += 1
    return Past(agent, calls, [Turned(*key, count) for key, count in found.most_common()])


def _value(
    directory: Path, config: Config, path: Sequence[str], patch: Mapping[str, Any], *, own: bool
) -> Any:
    """What is in force at the path then."""
    sources = [one for one in written(directory) if not one.held]
    now = at(config.model_dump(by_alias=True, exclude_none=True), path)
    if at(_merged(one.values for one in sources), path) == now:
        return at(_merged(_with(sources, patch, own=own)), path)
    return at(patched(nested(path, now), patch), path)  # a Markdown file or a plugin says it


def _with(sources: Sequence[Written], patch: Mapping[str, Any], *, own: bool) -> Iterator[Mapping[str, Any]]:
    """The files after the change; one that there was not comes where its kind does."""
    there = any(one.writable and one.own == own for one in sources)
    if own and not there:
        yield patched({}, patch)
    for one in sources:
        yield patched(one.values, patch) if one.writable and one.own == own else one.values
    if not own and not there:
        yield patched({}, patch)


def _merged(values: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in values:
        found = merge(found, dict(one))
    return found


def _changed(config: Config, path: Sequence[str], value: Any) -> Config:
    if len(path) == 1:
        return config.model_copy(update={_RULES: value})
    entry = config.agent.get(path[1]) or AgentConfig()
    return config.model_copy(
        update={"agent": {**config.agent, path[1]: entry.model_copy(update={_RULES: value})}}
    )

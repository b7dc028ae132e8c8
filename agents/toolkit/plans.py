"""Plan mode: the agent that plans, and which of its two forms the user chose."""

from __future__ import annotations

from typing import Final

from agents.config.schema import Config
from agents.toolkit.definitions import known_agents
from agents.toolkit.turn import Turn
from sessions.core import variables

PLAN: Final = "plan"
BUILD: Final = "build"

_OFF: Final = frozenset({"0", "false", "off", "no"})


def is_short(config: Config) -> bool:
    """Whether plan mode is the short one: a reminder to change nothing, without plan file and `plan_exit`.

    `"experimental": {"plan_mode": "short"}` in the configuration; OPENCODE_EXPERIMENTAL_PLAN_MODE, when it is
    set, decides by itself (0 or false: short).
    """
    given = variables.PLAN_MODE.read().strip().lower()
    return given in _OFF if given else config.experimental.get("plan_mode") in ("short", False)


def is_planning(turn: Turn) -> bool:
    """Whether this turn is one of plan mode."""
    return turn.agent.name == PLAN


def has_plan_mode(turn: Turn) -> bool:
    """Whether its agent can be in plan mode or enter it: one that works for the user itself, where there is a
    plan agent with a plan file. The tools for it are offered in both modes."""
    return (
        turn.agent.mode != "subagent"
        and turn.session.parent_id is None
        and not is_short(turn.config)
        and PLAN in known_agents(turn.config)
    )

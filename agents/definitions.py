"""Agents are data: a name, a prompt, rules (seed 004 §2). Built-in ones here, the rest from configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents.config import AgentConfig, Config
from agents.permission import defaults
from agents.permission.defaults import session_rules
from agents.permission.rules import Rule, from_config

PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True)
class Agent:
    """`mode` is primary, subagent or all; `steps` limits the provider turns of a prompt (None: no limit)."""

    name: str
    description: str = ""
    mode: str = "primary"
    native: bool = True
    hidden: bool = False
    prompt: str = ""
    permission: Sequence[Rule] = ()
    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    steps: int | None = None
    color: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


class UnknownAgent(LookupError):
    """No agent has this name; the text is for people."""


def prompt_text(name: str) -> str:
    return (PROMPTS / f"{name}.txt").read_text(encoding="utf-8")


BUILTIN = (
    Agent(
        "build", "Reads, edits and runs commands, asking where the rules say so.", permission=defaults.BUILD
    ),
    Agent("plan", "Looks around and plans; changes nothing but the plan.", permission=defaults.PLAN),
    Agent("title", "Names sessions.", hidden=True, prompt=prompt_text("title"), temperature=0.5),
)


CAUTION = (Rule("edit", "*", "ask"), Rule("bash", "*", "ask"))
"""When a configuration file cannot be read, the rules in it are unknown: ask rather than allow."""


def agents(config: Config, *, unreadable: bool = False) -> dict[str, Agent]:
    """All agents of a configuration by name: built-in, changed and added ones, without disabled ones.

    Their rules are complete: defaults, the agent's own, the user's, the user's for this agent. With
    `unreadable` (a configuration file could not be read) the defaults ask.
    """
    caution = CAUTION if unreadable else ()
    user = from_config(config.permission or {})
    changes = config.agent or {}
    found = {agent.name: agent for agent in BUILTIN}
    for name, change in changes.items():
        found[name] = _changed(found.get(name) or Agent(name, mode="all", native=False), change)

    def complete(agent: Agent) -> Agent:
        own = _own_rules(changes.get(agent.name))
        return replace(agent, permission=session_rules([*caution, *agent.permission], [*user, *own]))

    enabled = {name for name in found if name not in changes or not changes[name].disable}
    return {name: complete(agent) for name, agent in found.items() if name in enabled}


def choose(config: Config, name: str, *, unreadable: bool = False) -> Agent:
    """The agent of a name, or the default agent for an empty one. Raises UnknownAgent."""
    known = agents(config, unreadable=unreadable)
    wanted = name or config.default_agent or "build"
    if wanted not in known:
        visible = ", ".join(sorted(agent.name for agent in known.values() if not agent.hidden))
        raise UnknownAgent(f"There is no agent named {wanted!r}. There are: {visible}.")
    return known[wanted]


def _own_rules(changes: AgentConfig | None) -> list[Rule]:
    return from_config(changes.permission) if changes and changes.permission else []


def _changed(agent: Agent, changes: AgentConfig) -> Agent:
    given: dict[str, Any] = {
        "description": changes.description,
        "mode": changes.mode,
        "hidden": changes.hidden or None,
        "prompt": changes.prompt,
        "model": changes.model,
        "temperature": changes.temperature,
        "top_p": changes.top_p,
        "steps": changes.steps or changes.max_steps,
        "color": changes.color,
        "options": changes.model_options or None,
    }
    return replace(agent, **{key: value for key, value in given.items() if value is not None})

"""Agents are data: a name, a prompt, rules. Built-in ones here, the rest from configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from agents.config.schema import AgentConfig, Config
from agents.llm.families import OPEN, Family
from agents.llm.settings.domains import Controls, Settings
from agents.llm.settings.ingest import settings_of
from agents.llm.types import Model
from agents.toolkit.permission import defaults
from agents.toolkit.permission.defaults import session_rules
from agents.toolkit.permission.rules import Configured, Rule, Ruleset, configured, evaluate, floors
from sessions.core.sentences import Sentence

PROMPTS = Path(__file__).parent / "prompts"
DEFAULT = "build"


@dataclass(frozen=True, slots=True)
class Agent:
    """`mode` is primary, subagent or all; `steps` limits the provider turns of a prompt (None: no limit).

    An empty `prompt` stands for the one of the model's family; `model` is `provider/model` or empty.
    """

    name: str
    description: str = ""
    mode: str = "primary"
    native: bool = True
    hidden: bool = False
    prompt: str = ""
    permission: Sequence[Rule] = ()
    model: str = ""
    fallback: Sequence[str] | None = None
    """What it goes on with where its model fails; None: what the configuration says for all."""
    variant: str = ""
    temperature: float | None = None
    top_p: float | None = None
    steps: int | None = None
    color: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """As configured; `settings` has what they mean."""

    @property
    def settings(self) -> Settings:
        """What it asks of any model: its options, and what its own keys say of the sampling."""
        own = Settings(Controls(temperature=self.temperature, top_p=self.top_p))
        return settings_of(self.options).under(own)

    def variant_for(self, model: Model) -> str:
        """The variant it asks of a model when nobody chose one: its own belongs to its own model."""
        return self.variant if self.model in ("", model.ref) else ""

    @property
    def primary(self) -> bool:
        """Whether a person can talk to it."""
        return self.mode != "subagent" and not self.hidden

    @property
    def mentionable(self) -> bool:
        """Whether it can be sent on an errand, by `@` or by the task tool."""
        return self.mode != "primary" and not self.hidden


class UnknownAgent(LookupError):
    """No agent has this name; the text is for people."""


@cache
def prompt_text(name: str) -> str:
    return (PROMPTS / f"{name}.txt").read_text(encoding="utf-8")


def family_prompt(family: Family) -> str:
    """The base prompt of a model's family; those of open models begin with what their makers advise."""
    own = prompt_text(family)
    return f"{own}\n{prompt_text('default')}" if family in OPEN - {"default"} else own


def _native(name: str, description: str, permission: Ruleset, **given: Any) -> Agent:
    return Agent(name, description, permission=permission, **given)


def _writer(name: str, description: str) -> Agent:
    """A hidden agent that only writes a text."""
    return Agent(name, description, hidden=True, prompt=prompt_text(name), permission=defaults.NOTHING)


BUILTIN = (
    _native(
        "build", Sentence("Reads, edits and runs commands, asking where the rules say so."), defaults.BUILD
    ),
    _native("plan", Sentence("Looks around and plans; changes nothing but the plan."), defaults.PLAN),
    _native(
        "general",
        Sentence(
            "For research and for work of several steps, also beside others; may do what the main agent may."
        ),
        defaults.GENERAL,
        mode="subagent",
    ),
    _native(
        "explore",
        Sentence(
            "Finds its way in the code and answers questions about it; changes nothing. "
            "Say how thorough it is to be: quick, medium or very thorough."
        ),
        defaults.EXPLORE,
        mode="subagent",
        prompt=prompt_text("explore"),
    ),
    _writer("compaction", Sentence("Condenses a conversation that has outgrown the window.")),
    _writer("title", Sentence("Names sessions.")),
    _writer("summary", Sentence("Says in a few sentences what a session did.")),
)


OURS = frozenset(agent.prompt for agent in BUILTIN if agent.prompt)
"""Prompts of agents that come with the program."""

CAUTION = (Rule("edit", "*", "ask"), Rule("bash", "*", "ask"))
"""When a configuration file cannot be read, the rules in it are unknown: ask rather than allow."""


NEEDED = frozenset({"compaction"})
"""What no configuration can disable: without it a session could not leave a full window behind."""


def agents(config: Config) -> dict[str, Agent]:
    """All agents of a configuration by name: built-in, changed and added ones, without disabled ones.

    Their rules are complete: defaults, the agent's own, the user's, the user's for this agent.
    """
    return {name: _with_rules(agent, config) for name, agent in known_agents(config).items()}


def known_agents(config: Config) -> dict[str, Agent]:
    """The same without the configured rules, for who only asks which there are."""
    found = {agent.name: agent for agent in BUILTIN}
    for name, change in config.agent.items():
        found[name] = _changed(found.get(name) or Agent(name, mode="all", native=False), change)
    disabled = {name for name, change in config.agent.items() if change.disable} - NEEDED
    return {name: agent for name, agent in found.items() if name not in disabled}


def default_name(config: Config) -> str:
    """The agent a new session starts with: the configured one if a person can talk to it, else build."""
    usable = [agent.name for agent in known_agents(config).values() if agent.primary]
    wanted = (name for name in (config.default_agent, DEFAULT) if name in usable)
    return next(wanted, usable[0] if usable else DEFAULT)


def choose(config: Config, name: str, *, unreadable: bool = False, careful: bool = False) -> Agent:
    """The agent of a name, or the default agent for an empty one, with the rules as `agents` has them. With
    `unreadable` (a configuration file could not be read) the defaults ask; with `careful` they do so about
    commands that are not known to only read. Raises UnknownAgent."""
    known = known_agents(config)
    wanted = name or default_name(config)
    if wanted not in known:
        visible = ", ".join(sorted(agent.name for agent in known.values() if not agent.hidden))
        words = gettext("There is no agent named %(name)s. There are: %(names)s.")
        raise UnknownAgent(words % {"name": repr(wanted), "names": visible})
    return _with_rules(known[wanted], config, unreadable, careful)


def complaint(config: Config) -> str:
    """What is wrong with `default_agent`, for people; empty when nothing is."""
    known, name = known_agents(config), config.default_agent
    if not name or (name in known and known[name].primary):
        return ""
    words = (
        gettext("default_agent: %(name)s is a subagent; %(other)s is used instead.")
        if name in known and not known[name].hidden
        else gettext("default_agent: %(name)s is no agent to talk to; %(other)s is used instead.")
    )
    return words % {"name": repr(name), "other": repr(default_name(config))}


def _with_rules(agent: Agent, config: Config, unreadable: bool = False, careful: bool = False) -> Agent:
    caution = CAUTION if unreadable else defaults.CAREFUL if careful else ()
    return replace(
        agent, permission=_rules([*caution, *agent.permission], config, config.agent.get(agent.name))
    )


def _rules(agent: Ruleset, config: Config, changes: AgentConfig | None) -> list[Rule]:
    """Defaults, the agent's, the user's, what those do not lift, the user's for this agent."""
    user = _written(config, [*defaults.DEFAULTS, *agent])
    before = [*user, *defaults.held(agent, user)]
    own = _written(changes, [*defaults.DEFAULTS, *agent, *before]) if changes else []
    limits = [*floors(config.restrictions or {}), *floors((changes and changes.restrictions) or {})]
    return [*session_rules(agent, [*before, *own]), *limits]


def _written(section: Config | AgentConfig, before: Ruleset) -> list[Rule]:
    """The rules of `permission`, after those of the older `tools`."""
    return [*_switches(section.tools, before), *configured(section.permission or {})]


EDITS = frozenset({"write", "edit", "multiedit", "patch", "apply_patch"})
"""What one permission decides."""


def _switches(tools: Mapping[str, bool], before: Ruleset) -> Iterator[Rule]:
    """`{name: bool}` as rules: `false` denies; `true` lifts a denial, and not what is asked about."""
    by_permission: dict[str, bool] = {}
    for name, on in tools.items():
        permission = "edit" if name in EDITS else name
        by_permission[permission] = on and by_permission.get(permission, True)
    rules = list(before)
    for permission, on in by_permission.items():
        if not on or evaluate(permission, "*", rules).action == "deny":
            rules.append(Configured(permission, "*", "allow" if on else "deny"))
            yield rules[-1]


def _changed(agent: Agent, changes: AgentConfig) -> Agent:
    given: dict[str, Any] = {
        "description": changes.description,
        "mode": changes.mode,
        "hidden": changes.hidden,
        "prompt": changes.prompt,
        "model": changes.model,
        "fallback": changes.fallback,
        "variant": changes.variant,
        "temperature": changes.temperature,
        "top_p": changes.top_p,
        "steps": changes.steps or changes.max_steps,
        "color": changes.color,
        "options": {**agent.options, **changes.model_options} or None,
    }
    return replace(agent, **{key: value for key, value in given.items() if value is not None})

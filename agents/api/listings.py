"""What there is for a folder, as OpenCode's API says it; without a request, for the command line as well.

Everything here reads files and blocks.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agents.agent.commands.listing import commands
from agents.config.configuration import load
from agents.config.redaction import redacted
from agents.config.schema import AgentConfig, Config, Permission
from agents.servers.lsp.service import service
from agents.toolkit.definitions import EDITS, Agent, agents
from agents.toolkit.formatters import Formatter, applies, formatters
from agents.toolkit.permission.rules import in_order
from agents.toolkit.skills import BadSkill, Skill, body, discover
from sessions.core.platform import search_path
from sessions.core.repository import Repository
from sessions.core.wire.patterns import EVERYTHING

_ALWAYS = ("agent", "command", "plugin")
"""Sections that OpenCode's clients look into without asking whether they are there."""
_PASSED_ON = frozenset("logLevel references reference autoupdate layout attachment enterprise".split())
"""Top keys of OpenCode's that this program does not act on; its clients may."""
_AGENT_KEYS = frozenset({"name", *(field.alias or name for name, field in AgentConfig.model_fields.items())})
_OURS = frozenset({"fallback", "resume", "theme"})
"""Keys that OpenCode's configuration does not have."""
_STRICTER = ("allow", "ask", "deny")


def configuration(directory: Path | None) -> dict[str, Any]:
    """The merged configuration of a folder, or the user's own alone for None; secrets are not shown."""
    config = load(directory).config
    known = {field.alias or name for name, field in Config.model_fields.items()} - _OURS
    written = {key: value for key, value in _dumped(config).items() if key in known | _PASSED_ON}
    shown: dict[str, Any] = redacted(written)
    shown = _with_rules(shown, config.restrictions)
    told = {"mode": {}, **{key: getattr(Config(), key) for key in _ALWAYS}, **shown}
    listed = {
        name: _configured(entry, config.agent[name].restrictions) for name, entry in told["agent"].items()
    }
    return {**told, "agent": listed}


def _with_rules(section: dict[str, Any], restrictions: Permission | None) -> dict[str, Any]:
    """With the older `tools` among the rules of `permission`, with what a repository restricts, and by
    permission always."""
    if not restrictions and not section.keys() & {"tools", "permission"}:
        return section
    switched = {
        "edit" if name in EDITS else name: "allow" if on else "deny"
        for name, on in section.get("tools", {}).items()
    }
    rules = _restricted(_each(section.get("permission")), _each(restrictions))
    return {**section, "permission": {**switched, **rules}}


def _restricted(rules: Mapping[str, Any], restrictions: Mapping[str, Any]) -> dict[str, Any]:
    """Of two rules about one thing the stricter. The last counts, so what is about everything comes first."""
    found = dict(rules)
    for name, action in restrictions.items():
        if name == EVERYTHING:
            found = {name: found.get(name), **found}
            found = {each: _stricter(rule, action) for each, rule in found.items()}
        else:
            found[name] = _stricter(found.get(name), action)
    return found


def _stricter(rule: Any, action: Any) -> Any:
    if isinstance(rule, dict) or isinstance(action, dict):
        return _restricted(_each(rule), _each(action))
    return action if rule is None else max(rule, action, key=_STRICTER.index)


def _each(rules: Any) -> Mapping[str, Any]:
    """An action in one word is about everything."""
    return rules if isinstance(rules, dict) else {EVERYTHING: rules} if rules else {}


def _configured(entry: dict[str, Any], restrictions: Permission | None) -> dict[str, Any]:
    """One of `agent`, as OpenCode tells it: options and rules are always there, whatever they were written
    as."""
    options = {key: value for key, value in entry.items() if key not in _AGENT_KEYS}
    steps = entry.get("steps") or entry.get("maxSteps")
    told = {"permission": {}, **entry, "options": {**entry.get("options", {}), **options}}
    return {**_with_rules(told, restrictions), **({"steps": steps} if steps else {})}


def agents_of(directory: Path) -> list[dict[str, Any]]:
    return [_agent(agent) for agent in agents(load(directory).config).values()]


def commands_of(directory: Path) -> list[dict[str, Any]]:
    return [command.wire() for command in commands(directory, load(directory).config).values()]


def skills_of(directory: Path) -> list[dict[str, Any]]:
    """Every skill with its body; one that can no longer be read is left out."""
    found = discover(directory, load(directory).config)
    return [item for skill in found.skills.values() if (item := _skill(skill))]


def language_servers_of(directory: Path) -> list[dict[str, str]]:
    """Those that run, and those that failed; `root` is relative to the folder."""
    said = {"connected": "connected", "error": "error"}
    states = (state for state in service.statuses(directory) if state.status in said)
    return [
        {
            "id": state.id,
            "name": state.id,
            "root": _below(directory, state.root),
            "status": said[state.status],
        }
        for state in states
    ]


def _below(directory: Path, root: Path) -> str:
    """Empty for the folder itself."""
    relative = os.path.relpath(root, directory)
    return "" if relative == "." else relative


def formatters_of(directory: Path) -> list[dict[str, Any]]:
    """The formatters in force; `enabled`: installed, and the project uses it."""
    worktree = Repository.of(directory).worktree
    return [
        {
            "name": formatter.name,
            "extensions": list(formatter.extensions),
            "enabled": _enabled(formatter, directory, worktree),
        }
        for formatter in formatters(load(directory).config.formatter)
    ]


def _dumped(section: BaseModel) -> dict[str, Any]:
    """What is written in the files, without keys that OpenCode's schema does not have below its sections."""
    data: dict[str, Any] = section.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for name in section.model_fields_set & type(section).model_fields.keys():
        value = getattr(section, name)
        if isinstance(value, BaseModel) and not isinstance(value, AgentConfig):
            for key in value.model_extra or ():
                data[name].pop(key, None)
    return data


def _agent(agent: Agent) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": agent.name,
        "description": agent.description,
        "mode": agent.mode,
        "native": agent.native,
        "hidden": agent.hidden or None,
        "prompt": agent.prompt or None,
        "temperature": agent.temperature,
        "topP": agent.top_p,
        "color": agent.color or None,
        "variant": agent.variant or None,
        "steps": agent.steps,
        "options": redacted(dict(agent.options)),
        "permission": [
            {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}
            for rule in in_order(agent.permission)
        ],
    }
    if agent.model:
        provider, _, model = agent.model.partition("/")
        data["model"] = {"providerID": provider, "modelID": model}
    return {key: value for key, value in data.items() if value is not None}


def _skill(skill: Skill) -> dict[str, Any] | None:
    try:
        content = body(skill)
    except BadSkill:
        return None
    return {
        "name": skill.name,
        "description": skill.description,
        "location": str(skill.location),
        "content": content,
    }


def _enabled(formatter: Formatter, directory: Path, worktree: Path) -> bool:
    if not formatter.command or not shutil.which(formatter.command[0], path=search_path.persons()):
        return False
    return any(applies(formatter, directory / f"a{suffix}", worktree) for suffix in formatter.extensions)

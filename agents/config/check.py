"""Hold values against the schema, and leave out only what does not fit."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agents.config import jsonc
from agents.config.schema import AgentConfig, Config

Fault = tuple[jsonc.Path, str]
"""Where a value did not fit, and why."""


def check(values: dict[str, Any]) -> tuple[Config, dict[str, Any], list[Fault]]:
    """The configuration, the values it was made of (without the wrong ones) and what was wrong.

    A wrong permission becomes `ask` and a wrong tool switch `false`: dropping it could allow what the
    user meant to forbid.
    """
    values = copy.deepcopy(values)
    faults: list[Fault] = []
    while found := wrong(values):
        faults += [(path, f"{message}; {_repair(values, path)}") for path, message in found.items()]
    return Config.model_validate(values), values, faults


def wrong(values: dict[str, Any]) -> dict[jsonc.Path, str]:
    """Why values do not fit, by their places; empty when all do."""
    try:
        Config.model_validate(values)
    except ValidationError as error:
        return _located(error.errors(include_url=False), values)
    return {}


def unknown_keys(section: BaseModel, path: jsonc.Path = ()) -> Iterator[jsonc.Path]:
    """The keys that are no part of the schema. An agent has none: its extra keys are model options."""
    if isinstance(section, AgentConfig):
        return
    for key in section.model_extra or {}:
        yield (*path, key)
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        inner = (*path, field.alias or name)
        if isinstance(value, BaseModel):
            yield from unknown_keys(value, inner)
        elif isinstance(value, dict):
            for entry_name, entry in value.items():
                if isinstance(entry, BaseModel):
                    yield from unknown_keys(entry, (*inner, entry_name))


def _located(errors: list[ErrorDetails], values: Any) -> dict[jsonc.Path, str]:
    """One message for each innermost wrong value; the branches of a union report it several times."""
    messages: dict[jsonc.Path, list[str]] = {}
    for error in errors:
        path, missing = _real_path(error["loc"], values)
        text = f"{missing} is missing" if error["type"] == "missing" else error["msg"].lower()
        messages.setdefault(path, []).append(text)
    inner = {path: list(dict.fromkeys(texts)) for path, texts in messages.items()}
    return {path: " or ".join(texts) for path, texts in inner.items() if not _is_around(path, inner)}


def _is_around(path: jsonc.Path, others: dict[jsonc.Path, list[str]]) -> bool:
    return any(len(other) > len(path) and other[: len(path)] == path for other in others)


def _real_path(location: tuple[int | str, ...], values: Any) -> tuple[jsonc.Path, str]:
    """The key in the file, which pydantic mixes with union branches and missing keys, and its last step.

    A wrong item stands for its whole list, so that no item changes its place.
    """
    path: list[int | str] = []
    for step in location:
        if isinstance(values, dict) and step in values:
            values = values[step]
            path.append(step)
    return tuple(path), str(location[-1])


def _repair(values: dict[str, Any], path: jsonc.Path) -> str:
    """Change the wrong value in place; the text says to what."""
    holder: Any = values
    for step in path[:-1]:
        holder = holder[step]
    inside = path[2:] if path[0] == "agent" else path
    if inside[:1] == ("permission",):
        holder[path[-1]] = "ask"
        return "taken as 'ask'"
    if inside[:1] == ("tools",) and len(inside) > 1:
        holder[path[-1]] = False
        return "taken as false"
    del holder[path[-1]]
    return "the key is ignored"


PERMISSIONS = frozenset(
    "read edit glob grep list bash batch task skill lsp todowrite todoread question webfetch websearch"
    " codesearch external_directory private_address network sandbox doom_loop limit plan_enter plan_exit"
    " mcp_sampling".split()
)
"""What tools ask for by themselves. Tools of MCP servers and plugins go by their own names besides."""
_OTHERWISE = {
    **dict.fromkeys(("write", "multiedit", "patch", "apply_patch"), "edit"),
    **dict.fromkeys(("shell", "command", "commands", "terminal", "exec"), "bash"),
    **dict.fromkeys(("fetch", "web", "domains"), "webfetch"),
}
"""What others call them."""
_OF_ALL = ("permission", "sandbox", "sandbox_domains", "sandbox_write")
_OF_AN_AGENT = ("permission", "sandbox")
_ALIKE = 0.8


def misspelt(config: Config) -> Iterator[Fault]:
    """Keys of the sandbox and of permissions that nothing goes by, so that what they forbid is not held:
    those that are almost one that there is."""
    sections: list[tuple[jsonc.Path, Config | AgentConfig]] = [((), config)]
    sections += [(("agent", name), agent) for name, agent in config.agent.items()]
    for path, section in sections:
        known = _OF_ALL if isinstance(section, Config) else _OF_AN_AGENT
        for key in section.model_extra or {}:
            if meant := _meant(key, known) or ("sandbox" if key.startswith("sandbox") else ""):
                yield (*path, key), f"there is no such key; did you mean {meant!r}?"
        if isinstance(section.permission, dict):
            servers = tuple(f"{server}_" for server in config.mcp)
            for key in section.permission:
                meant = "" if key.startswith(servers) else _OTHERWISE.get(key) or _meant(key, PERMISSIONS)
                if meant:
                    yield (*path, "permission", key), f"there is no such permission; did you mean {meant!r}?"


def _meant(key: str, known: Collection[str]) -> str:
    if key in known or not key.replace("_", "").isalpha():
        return ""
    return next(iter(get_close_matches(key, known, 1, _ALIKE)), "")

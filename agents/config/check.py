"""Hold values against the schema, and leave out only what does not fit."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from functools import reduce
from typing import Any

from django.utils.translation.trans_null import gettext_noop
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agents.config import jsonc
from agents.config.schema import AgentConfig, Config
from sessions.core.sentences import Sentence

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
        faults += [
            (
                path,
                Sentence("%(problem)s; %(remedy)s", problem=why, remedy=_repair(values, path)),
            )
            for path, why in found.items()
        ]
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
        messages.setdefault(path, []).append(_words(error, missing))
    inner = {path: list(dict.fromkeys(texts)) for path, texts in messages.items()}
    return {path: reduce(_either, texts) for path, texts in inner.items() if not _is_around(path, inner)}


_EXPECTED = {
    "bool_parsing": gettext_noop("input should be a valid boolean, unable to interpret input"),
    "bool_type": gettext_noop("input should be a valid boolean"),
    "dict_type": gettext_noop("input should be a valid dictionary"),
    "finite_number": gettext_noop("input should be a finite number"),
    "float_type": gettext_noop("input should be a valid number"),
    "int_from_float": gettext_noop("input should be a valid integer, got a number with a fractional part"),
    "int_type": gettext_noop("input should be a valid integer"),
    "list_type": gettext_noop("input should be a valid list"),
    "string_type": gettext_noop("input should be a valid string"),
    "greater_than": gettext_noop("input should be greater than %(gt)s"),
    "greater_than_equal": gettext_noop("input should be greater than or equal to %(ge)s"),
    "less_than": gettext_noop("input should be less than %(lt)s"),
    "less_than_equal": gettext_noop("input should be less than or equal to %(le)s"),
    "literal_error": gettext_noop("input should be %(expected)s"),
}
"""What pydantic says (its `error_types`), as it is most often wrong; the rest stays as it says it."""


def _words(error: ErrorDetails, missing: str) -> str:
    if error["type"] == "missing":
        return Sentence("%(key)s is missing", key=missing)
    said = error["msg"].lower()
    filled = {name: str(value).lower() for name, value in error.get("ctx", {}).items()}
    if (text := _EXPECTED.get(error["type"])) and (made := Sentence(text, **filled)) == said:
        return made
    return said


def _either(one: str, other: str) -> str:
    return Sentence("%(one)s or %(other)s", one=one, other=other)


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
        return Sentence("taken as 'ask'")
    if inside[:1] == ("tools",) and len(inside) > 1:
        holder[path[-1]] = False
        return Sentence("taken as false")
    del holder[path[-1]]
    return Sentence("the key is ignored")


PERMISSIONS = frozenset(
    "read edit glob grep list bash batch task skill lsp todowrite todoread question webfetch websearch"
    " codesearch external_directory private_address network sandbox doom_loop limit plan_enter plan_exit"
    " mcp_sampling browser".split()
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
                words = gettext_noop("there is no such key; did you mean %(meant)s?")
                yield (*path, key), Sentence(words, meant=repr(meant))
        if isinstance(section.permission, dict):
            servers = tuple(f"{server}_" for server in config.mcp)
            for key in section.permission:
                meant = "" if key.startswith(servers) else _OTHERWISE.get(key) or _meant(key, PERMISSIONS)
                if meant:
                    words = gettext_noop("there is no such permission; did you mean %(meant)s?")
                    yield (*path, "permission", key), Sentence(words, meant=repr(meant))


def _meant(key: str, known: Collection[str]) -> str:
    if key in known or not key.replace("_", "").isalpha():
        return ""
    return next(iter(get_close_matches(key, known, 1, _ALIKE)), "")

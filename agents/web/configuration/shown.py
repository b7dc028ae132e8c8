"""The settings with their values: what is in force, which file says so, and what a file has by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from pydantic import BaseModel

from agents.config.configuration import load
from agents.config.limits import limits_of
from agents.config.redaction import HIDDEN, redacted
from agents.config.written import Written, written
from agents.toolkit.definitions import known_agents
from agents.web.configuration.catalogue import SECTIONS, Section, Setting, at, by_key, default_of
from sessions.core.wire.patterns import EVERYTHING

_NUMBERS = {
    "context": gettext_noop("Whole"),
    "output": gettext_noop("Answer"),
    "input": gettext_noop("Prompt"),
    "cache_read": gettext_noop("Read from a cache"),
    "cache_write": gettext_noop("Written to one"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """`value` is in force. `here` is what the file that is changed has, None for nothing; `origin` is the
    file that `value` comes from, None where it is the usual one. `held` is the project's file where that says
    something else, which waits for trust. `outdone`: another file counts before what is `here`."""

    setting: Setting
    value: Any
    here: Any
    origin: Path | None
    held: Path | None
    outdone: bool = False

    @property
    def numbers(self) -> list[tuple[str, str, str]]:
        """Those of an object: name, title, and what its control has."""
        values = self.value if isinstance(self.value, Mapping) else {}
        return [
            (name, _NUMBERS.get(name, name.capitalize()), _plain(values[name]) if name in values else "")
            for name in self.setting.choices
        ]

    @property
    def text(self) -> str:
        """What its control has."""
        shown = self.here if self.setting.is_apart else self.value
        if self.setting.kind in ("lines", "models"):
            return "\n".join(shown or ())
        if self.setting.kind == "json":
            return "" if shown is None else json.dumps(shown, indent=2, ensure_ascii=False)
        return "" if shown is None or (shown is False and self.setting.kind != "switch") else _plain(shown)

    @property
    def lines(self) -> int:
        """How high its control is."""
        return min(max(self.text.count("\n") + 1, 2), 14)

    @property
    def words(self) -> str:
        """By which it is found."""
        said = (gettext(self.setting.title), gettext(self.setting.words), self.setting.key)
        return " ".join(said).lower()


@dataclass(frozen=True, slots=True)
class Group:
    section: Section
    rows: Sequence[Row]


def groups(directory: Path, *, own: bool) -> list[Group]:
    """All settings. `own`: the person's own file is changed, else the project's. Blocks."""
    wanted = [setting for setting in by_key().values() if own or not setting.own]
    found = {row.setting.key: row for row in rows(directory, wanted, own=own)}
    return [
        Group(section, [found[setting.key] for setting in section.settings if setting.key in found])
        for section in SECTIONS
    ]


def rows(
    directory: Path,
    wanted: Iterable[Setting],
    *,
    own: bool,
    markdown: Path | None = None,
    usual: Mapping[str, Any] = MappingProxyType({}),
) -> list[Row]:
    """Of some settings; of an entry's that is written in a Markdown file, with that. `usual` has by key what
    holds where no file says anything. Blocks."""
    sources = written(directory)
    config = load(directory).config
    in_force = {**redacted(config.model_dump(by_alias=True)), "limits": asdict(limits_of(config))}
    changed = next((one for one in sources if one.writable and one.own == own), None)
    found = []
    for setting in wanted:
        row = _row(setting, sources, in_force, changed)
        if row.origin is None and row.value and markdown:
            row = replace(row, origin=markdown)
        if row.origin is None and row.value is None:
            row = replace(row, value=usual.get(setting.key))
        found.append(row)
    return found


@dataclass(frozen=True, slots=True)
class Entry:
    """An agent, a command, a provider or a model. `file` is its Markdown file, where it has one."""

    kind: str
    name: str
    words: str
    file: Path | None


def entries(directory: Path) -> dict[str, list[Entry]]:
    """By the key of the configuration that they are under. Blocks."""
    loaded = load(directory)
    config, files = loaded.config, [path for path in loaded.sources if path.suffix == ".md"]
    agents = {agent.name: agent.description for agent in known_agents(config).values()}
    agents |= {name: gettext("Switched off") for name, agent in config.agent.items() if agent.disable}
    named: dict[str, Mapping[str, str]] = {
        "agent": agents,
        "command": {name: command.description or "" for name, command in config.command.items()},
        "provider": {name: provider.get("name", "") for name, provider in config.provider.items()},
    }
    return {
        kind: [Entry(kind, name, words, _file(files, kind, name)) for name, words in sorted(found.items())]
        for kind, found in named.items()
    }


def copy_of(directory: Path, kind: str, name: str) -> dict[str, Any] | None:
    """What makes another agent, or command, like one; None where there is no such one. What is secret in it
    is left out. Blocks."""
    config = load(directory).config
    if kind == "command":
        return _said(config.command[name]) if name in config.command else None
    agent = known_agents(config).get(name) if kind == "agent" else None
    if agent is None:
        return None
    own = {"description": agent.description, "mode": agent.mode, "prompt": agent.prompt}
    rules: dict[str, dict[str, str]] = {}
    for rule in agent.permission if agent.native else ():
        rules.setdefault(rule.permission, {})[rule.pattern] = rule.action
    said = _said(config.agent[name]) if name in config.agent else {}
    for permission, actions in said.pop("permission", {}).items():
        later = actions if isinstance(actions, dict) else {EVERYTHING: actions}
        earlier = rules.get(permission, {})
        rules[permission] = {
            key: earlier[key] for key in earlier if key not in later
        } | later  # the last counts
    return {key: value for key, value in {**own, "permission": rules, **said}.items() if value}


def _said(entry: BaseModel) -> dict[str, Any]:
    values = redacted(entry.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True))
    return {
        key: value for key, value in values.items() if HIDDEN not in json.dumps(value, ensure_ascii=False)
    }


_FOLDERS = {"agent": ("agent", "agents", "mode", "modes"), "command": ("command", "commands")}


def _file(files: Iterable[Path], kind: str, name: str) -> Path | None:
    """Names have the folders below that of their kind before them."""
    for path in files:
        for folder in _FOLDERS.get(kind, ()):
            before, found, after = f"{path.with_suffix('')}".rpartition(f"/{folder}/")
            if before and found and after == name:
                return path
    return None


def _row(
    setting: Setting, sources: Sequence[Written], in_force: Mapping[str, Any], changed: Written | None
) -> Row:
    here = at(redacted(changed.values), setting.path) if changed else None
    says = [one for one in sources if at(one.values, setting.path) is not None]
    counts = [one.file for one in says if not one.held]
    value = at(in_force, setting.path)
    if value is None and not counts:
        value = default_of(setting)
    held = next((one.file for one in says if one.held), None)
    origin = counts[-1] if counts else None
    outdone = bool(changed and here is not None and origin not in (None, changed.file))
    return Row(setting, value, here, origin, held, outdone and not setting.is_apart)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)

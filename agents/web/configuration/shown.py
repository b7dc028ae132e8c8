"""The settings with their values: what is in force, which file says so, and what a file has by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agents.config.configuration import load
from agents.config.limits import limits_of
from agents.config.redaction import redacted
from agents.config.written import Written, written
from agents.toolkit.definitions import known_agents
from agents.web.configuration.catalogue import SECTIONS, Section, Setting, at, by_key, default_of


@dataclass(frozen=True, slots=True)
class Row:
    """`value` is in force. `here` is what the file that is changed has, None for nothing; `origin` is the
    file that `value` comes from, None where it is the usual one. `held` is the project's file where that says
    something else, which waits for trust."""

    setting: Setting
    value: Any
    here: Any
    origin: Path | None
    held: Path | None

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
        return " ".join((self.setting.title, self.setting.words, self.setting.key)).lower()


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


def rows(directory: Path, wanted: Iterable[Setting], *, own: bool, markdown: Path | None = None) -> list[Row]:
    """Of some settings; of an entry's that is written in a Markdown file, with that. Blocks."""
    sources = written(directory)
    config = load(directory).config
    in_force = {**redacted(config.model_dump(by_alias=True)), "limits": asdict(limits_of(config))}
    written_there = (redacted(one.values) for one in sources if one.writable and one.own == own)
    changed: Mapping[str, Any] = next(written_there, {})
    found = (_row(setting, sources, in_force, at(changed, setting.path)) for setting in wanted)
    return [replace(row, origin=markdown) if row.origin is None and row.value else row for row in found]


@dataclass(frozen=True, slots=True)
class Entry:
    """An agent, a command or a provider. `file` is its Markdown file, where it has one."""

    kind: str
    name: str
    words: str
    file: Path | None


def entries(directory: Path) -> dict[str, list[Entry]]:
    """By the key of the configuration that they are under. Blocks."""
    loaded = load(directory)
    config, files = loaded.config, [path for path in loaded.sources if path.suffix == ".md"]
    agents = {agent.name: agent.description for agent in known_agents(config).values()}
    agents |= {name: "Switched off" for name, agent in config.agent.items() if agent.disable}
    named: dict[str, Mapping[str, str]] = {
        "agent": agents,
        "command": {name: command.description or "" for name, command in config.command.items()},
        "provider": {name: provider.get("name", "") for name, provider in config.provider.items()},
    }
    return {
        kind: [Entry(kind, name, words, _file(files, kind, name)) for name, words in sorted(found.items())]
        for kind, found in named.items()
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


def _row(setting: Setting, sources: Sequence[Written], in_force: Mapping[str, Any], here: Any) -> Row:
    says = [one for one in sources if at(one.values, setting.path) is not None]
    counts = [one.file for one in says if not one.held]
    value = at(in_force, setting.path)
    if value is None and not counts:
        value = default_of(setting)
    held = next((one.file for one in says if one.held), None)
    return Row(setting, value, here, counts[-1] if counts else None, held)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)

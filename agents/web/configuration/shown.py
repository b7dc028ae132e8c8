"""The settings with their values: what is in force, which file says so, and what a file has by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents.config.configuration import load
from agents.config.limits import limits_of
from agents.config.redaction import redacted
from agents.config.written import Written, written
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
    rows = {row.setting.key: row for row in _rows(directory, own)}
    return [
        Group(section, [rows[setting.key] for setting in section.settings if setting.key in rows])
        for section in SECTIONS
    ]


def row_of(directory: Path, setting: Setting, *, own: bool) -> Row:
    """One of them. Blocks."""
    return next(row for row in _rows(directory, own) if row.setting == setting)


def _rows(directory: Path, own: bool) -> Iterator[Row]:
    sources = written(directory)
    config = load(directory).config
    in_force = {**redacted(config.model_dump(by_alias=True)), "limits": asdict(limits_of(config))}
    written_there = (redacted(one.values) for one in sources if one.writable and one.own == own)
    changed: Mapping[str, Any] = next(written_there, {})
    for setting in by_key().values():
        if own or not setting.own:
            yield _row(setting, sources, in_force, at(changed, setting.path))


def _row(setting: Setting, sources: Sequence[Written], in_force: Mapping[str, Any], here: Any) -> Row:
    says = [one for one in sources if at(one.values, setting.path) is not None]
    counts = [one.file for one in says if not one.held]
    value = at(in_force, setting.path) if counts else default_of(setting)
    held = next((one.file for one in says if one.held), None)
    return Row(setting, value, here, counts[-1] if counts else None, held)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)

"""The configuration as its files have it: each source by itself, references not replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.config import jsonc, loader
from agents.config.problem import Refused
from agents.config.reader import MAX_FILE, read_text
from agents.config.trusted import Gate
from agents.config.writing import target
from sessions.core.confined import read_whole


@dataclass(frozen=True, slots=True)
class Written:
    """A file, or the variable of the environment that stands in for one. `own`: the user's, not the
    project's; `writable`: a person's change goes into this one; `held`: something in it waits for trust."""

    file: Path
    own: bool
    writable: bool
    held: bool
    values: Mapping[str, Any]


def written(directory: Path | None, environ: Mapping[str, str] = os.environ) -> list[Written]:
    """What can be read, farthest first. Blocks."""
    return list(_written(directory, environ))


def _written(directory: Path | None, environ: Mapping[str, str]) -> Iterator[Written]:
    gate = Gate(directory, environ) if directory is not None else None
    targets = _targets(directory, environ)
    for source in loader.sources(directory, environ):
        text = source.text or ""
        if source.is_file:
            text = _text(source.path, None if source.own else gate)
        values = _values(text)
        if values is not None:
            held = gate is not None and not source.own and _is_held(text, source.path, environ, gate)
            yield Written(source.path, source.own, source.path in targets, held, values)


def _targets(directory: Path | None, environ: Mapping[str, str]) -> set[Path]:
    found = set()
    for folder in {None, directory}:
        with suppress(Refused, OSError):
            found.add(target(folder, environ).file)
    return found


def _is_held(text: str, file: Path, environ: Mapping[str, str], gate: Gate) -> bool:
    want = read_text(text, file, file.parent, environ, gate).want
    return want is not None and not want.trusted


def _text(file: Path, gate: Gate | None) -> str:
    """Empty where there is none to be read."""
    try:
        raw = gate.reach.read(file, MAX_FILE) if gate is not None else read_whole(file, None, MAX_FILE)
        return raw.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _values(text: str) -> dict[str, Any] | None:
    """None for what is no object."""
    try:
        value = jsonc.Document(text).value if text.strip() else None
    except (jsonc.JsoncError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

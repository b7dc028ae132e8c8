"""Read one configuration text: parse, substitute, check. Nothing here raises for what a file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opencode_web.config import jsonc
from opencode_web.config.check import check, unknown_keys
from opencode_web.config.problem import Problem
from opencode_web.config.substitute import Substitution

MAX_FILE = 1024 * 1024
"""Bytes that a configuration file may have."""


@dataclass(slots=True)
class Reading:
    """What one source gave. `names` and `files`: the variables and files it referred to."""

    values: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    files: set[Path] = field(default_factory=set)


def read_file(file: Path, environ: Mapping[str, str]) -> Reading:
    """The values of a file that exists; an unreadable or malformed one has a problem and no values."""
    try:
        if not file.is_file() or file.stat().st_size > MAX_FILE:
            raise OSError("not a file of at most 1 MiB")
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return Reading(problems=[Problem(file, None, "", f"not UTF-8 text (byte {error.start})")])
    except OSError as error:
        return Reading(problems=[Problem(file, None, "", error.strerror or str(error))])
    return read_text(text, file, file.parent, environ)


def read_text(text: str, file: Path, base: Path, environ: Mapping[str, str]) -> Reading:
    """The same for a text; `file` is its name in problems, `base` where relative paths start."""
    try:
        document = jsonc.Document(text)
    except jsonc.JsoncError as error:
        return Reading(problems=[Problem(file, error.line, "", f"{error.message} (column {error.column})")])
    if not isinstance(document.value, dict):
        return Reading(problems=[Problem(file, 1, "", "expected an object: { … }")])
    substitution = Substitution(base, environ)
    config, values, faults = check(substitution.apply(document.value))
    problems = [
        Problem(file, document.line(path), _dotted(path), message)
        for path, message in [*substitution.failures, *faults]
    ]
    unknown = list(unknown_keys(config))
    if unknown:
        names = ", ".join(map(_dotted, unknown))
        message = f"not used by opencode-web and ignored: {names}"
        problems.append(Problem(file, document.line(unknown[0]), _dotted(unknown[0]), message, "warning"))
    return Reading(values, problems, substitution.names, substitution.files)


def _dotted(path: jsonc.Path) -> str:
    return ".".join(map(str, path))

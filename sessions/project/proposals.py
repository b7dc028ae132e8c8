"""Commands that the files of a project name: what may become an action of it by a click."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST = 16
_LARGEST = 512 * 1024
_FIRST = ("start", "dev", "serve", "run", "test", "check", "lint", "format", "fmt", "build")
"""What is asked for most, in this order; the others come after it as the file has them."""
_TARGET = re.compile(r"^([A-Za-z][\w-]{0,39}):(?![=:])", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z][\w-]{0,39})(?: [^:\n]*)?:(?!=)", re.MULTILINE)
_MANAGERS = (
    ("pnpm-lock.yaml", "pnpm run"),
    ("yarn.lock", "yarn run"),
    ("bun.lock", "bun run"),
    ("bun.lockb", "bun run"),
)
_NAME = re.compile(r"[\w:.@/-]{1,40}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """`source` is the file that names it."""

    name: str
    command: str
    source: str


def proposals(folder: Path) -> list[Proposal]:
    """What a folder's own files name, the usual ones first; of several with one name the first. Nothing is
    run. Blocks."""
    found: dict[str, Proposal] = {}
    for name, read in _READERS.items():
        text = _text(folder / name)
        for label, command in read(text, folder) if text else ():
            found.setdefault(label, Proposal(label, command, name))
    rank = {name: number for number, name in enumerate(_FIRST)}
    ordered = sorted(found.values(), key=lambda one: rank.get(one.name, len(rank)))
    return ordered[:MOST]


def _text(path: Path) -> str:
    """Empty where there is none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _package(text: str, folder: Path) -> Iterator[tuple[str, str]]:
    try:
        scripts = json.loads(text).get("scripts")
    except (ValueError, AttributeError, RecursionError):
        return
    manager = next((run for lock, run in _MANAGERS if (folder / lock).exists()), "npm run")
    for name in _names(scripts):
        yield name, f"{manager} {name}"


def _makefile(text: str, _: Path) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(_TARGET.findall(text)):
        yield name, f"make {name}"


def _justfile(text: str, _: Path) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(_RECIPE.findall(text)):
        yield name, f"just {name}"


def _pyproject(text: str, _: Path) -> Iterator[tuple[str, str]]:
    try:
        tools = tomllib.loads(text).get("tool")
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    tool = tools if isinstance(tools, dict) else {}
    for path, run in _RUNNERS.items():
        for name in _names(_at(tool, path)):
            yield name, f"{run} {name}"
    if _at(tool, "pytest.ini_options") is not None or _at(tool, "pytest") is not None:
        yield "test", "pytest"
    if "ruff" in tool:
        yield "lint", "ruff check"
        yield "format", "ruff format"
    if "mypy" in tool:
        yield "types", "mypy ."


_RUNNERS = {
    "poe.tasks": "poe",
    "pdm.scripts": "pdm run",
    "taskipy.tasks": "task",
    "hatch.envs.default.scripts": "hatch run",
}


def _cargo(_: str, __: Path) -> Iterator[tuple[str, str]]:
    yield from (("test", "cargo test"), ("build", "cargo build"), ("lint", "cargo clippy"))


def _go(_: str, __: Path) -> Iterator[tuple[str, str]]:
    yield from (("test", "go test ./..."), ("build", "go build ./..."), ("lint", "go vet ./..."))


def _at(table: Mapping[str, Any], path: str) -> object:
    found: object = table
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _names(table: object) -> Iterator[str]:
    """Those that a shell takes as they are."""
    for name in table if isinstance(table, dict) else ():
        if _NAME.fullmatch(str(name)) and not str(name).startswith(("-", "_")):
            yield str(name)


_READERS: Mapping[str, Callable[[str, Path], Iterator[tuple[str, str]]]] = {
    "package.json": _package,
    "Makefile": _makefile,
    "justfile": _justfile,
    "pyproject.toml": _pyproject,
    "Cargo.toml": _cargo,
    "go.mod": _go,
}

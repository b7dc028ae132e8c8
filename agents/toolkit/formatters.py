"""Formatters that run on a file after an edit, where they are installed and the project uses them.

Each is a row of data, as OpenCode's `formatter` key has them.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.config.schema import Config, FormatterConfig
from agents.toolkit.sandbox import door
from agents.toolkit.shared.environment import shell_environment
from agents.toolkit.shared.process import CannotStart
from agents.toolkit.turn import Turn
from sessions.core.confined import read
from sessions.core.platform import search_path

_MAX_CONFIG = 1024 * 1024

FILE = "$FILE"
"""Stands for the file in a command."""


@dataclass(frozen=True, slots=True)
class Formatter:
    """`command` contains $FILE. `markers` are files of which one must be found from the file's folder up to
    the project's root (none: the language has one style); with `section`, a marker must contain it.

    `named_only`: it runs code out of the project (configuration that is a program), so it takes part only
    when the configuration names it.
    """

    name: str
    extensions: tuple[str, ...]
    command: tuple[str, ...]
    markers: tuple[str, ...] = ()
    section: str = ""
    named_only: bool = False
    environment: tuple[tuple[str, str], ...] = ()


_WEB = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".json", ".jsonc", ".css", ".graphql")
_PROSE = (".html", ".vue", ".svelte", ".astro", ".scss", ".less", ".md", ".mdx", ".yaml", ".yml")

BUILTIN: tuple[Formatter, ...] = (
    Formatter("gofmt", (".go",), ("gofmt", "-w", FILE)),
    Formatter("rustfmt", (".rs",), ("rustfmt", FILE)),
    Formatter("zig", (".zig", ".zon"), ("zig", "fmt", FILE)),
    Formatter("terraform", (".tf", ".tfvars"), ("terraform", "fmt", FILE)),
    Formatter("dart", (".dart",), ("dart", "format", FILE)),
    Formatter("gleam", (".gleam",), ("gleam", "format", FILE)),
    Formatter("nixfmt", (".nix",), ("nixfmt", FILE)),
    Formatter(
        "ruff",
        (".py", ".pyi"),
        ("ruff", "format", FILE),
        ("ruff.toml", ".ruff.toml", "pyproject.toml"),
        "ruff",
    ),
    Formatter("black", (".py", ".pyi"), ("black", "--quiet", FILE), ("pyproject.toml",), "[tool.black]"),
    Formatter(
        "clang-format",
        (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".ino"),
        ("clang-format", "-i", FILE),
        (".clang-format", "_clang-format"),
    ),
    Formatter("shfmt", (".sh", ".bash"), ("shfmt", "-w", FILE), (".editorconfig",), "[*"),
    Formatter("biome", _WEB, ("biome", "format", "--write", FILE), ("biome.json", "biome.jsonc")),
    Formatter("ocamlformat", (".ml", ".mli"), ("ocamlformat", "-i", FILE), (".ocamlformat",)),
    Formatter("ktlint", (".kt", ".kts"), ("ktlint", "-F", FILE), (".editorconfig",), "ktlint"),
    Formatter("prettier", _WEB + _PROSE, ("prettier", "--write", FILE), named_only=True),
    Formatter("mix", (".ex", ".exs", ".heex"), ("mix", "format", FILE), ("mix.exs",), named_only=True),
    Formatter("rubocop", (".rb",), ("rubocop", "--autocorrect", FILE), named_only=True),
)


def applies(formatter: Formatter, file: Path, worktree: Path) -> bool:
    """Whether the project uses this formatter for the file, as far as its files tell."""
    if file.suffix.lower() not in formatter.extensions:
        return False
    if not formatter.markers:
        return True
    folders = [folder for folder in file.parents if folder.is_relative_to(worktree)]
    found = (folder / marker for folder in folders for marker in formatter.markers)
    return any(_holds(path, formatter.section) for path in found)


def _holds(path: Path, section: str) -> bool:
    if not section or path.name in ("ruff.toml", ".ruff.toml"):
        return path.is_file()
    try:
        return section.encode() in read(path, None, _MAX_CONFIG)
    except OSError:
        return False


TIMEOUT = 10.0

logger = logging.getLogger(__name__)


def formatters(setting: bool | Mapping[str, FormatterConfig]) -> Iterator[Formatter]:
    """The formatters of a configuration: built-in ones as changed by it, then its own."""
    if setting is False:
        return
    entries: Mapping[str, FormatterConfig] = {} if setting is True else setting
    builtin = {formatter.name: formatter for formatter in BUILTIN}
    for name, formatter in builtin.items():
        entry = entries.get(name)
        if entry is None and not formatter.named_only:
            yield formatter
        elif entry is not None and not entry.get("disabled"):
            yield _changed(formatter, entry)
    for name, entry in entries.items():
        if name not in builtin and entry.get("command") and not entry.get("disabled"):
            yield _changed(Formatter(name, (), ()), entry)


def _changed(formatter: Formatter, entry: FormatterConfig) -> Formatter:
    """A formatter that the configuration names needs no marker in the project."""
    return Formatter(
        formatter.name,
        tuple(entry.get("extensions") or formatter.extensions),
        tuple(entry.get("command") or formatter.command),
        environment=tuple((entry.get("environment") or {}).items()),
    )


def chosen(path: Path, config: Config, worktree: Path) -> list[Formatter]:
    """The formatters for a file that are installed and that its project or the configuration asks for."""
    found = [item for item in formatters(config.formatter) if applies(item, path, worktree)]
    places = search_path.persons()
    return [item for item in found if item.command and shutil.which(item.command[0], path=places)]


async def run_formatter(formatter: Formatter, path: Path, worktree: Path, turn: Turn) -> None:
    """Format a file of the project at `worktree` in place. A formatter that fails or takes too long is
    logged; the file stays as it is."""
    said: list[bytes] = []

    async def listen(chunk: bytes) -> None:
        said.append(chunk[:2000])

    argv = [str(path) if word == FILE else word for word in formatter.command]
    environment = {**shell_environment(), **dict(formatter.environment)}
    try:
        ended = await door.run(
            argv,
            turn,
            cwd=worktree,
            env=environment,
            timeout=TIMEOUT,
            abort=asyncio.Event(),
            on_output=listen,
        )
    except (CannotStart, door.Refused) as error:
        logger.warning("%s did not format %s: %s", formatter.name, path, error)
        return
    if ended.exit_code != 0:
        words = b"".join(said).decode("utf-8", "replace")[-500:]
        logger.warning("%s did not format %s (%s): %s", formatter.name, path, ended.ending, words)

"""Which formatters there are: each a row of data (OpenCode's `formatter` key)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sessions.core.confined import read

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

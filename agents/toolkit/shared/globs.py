"""Globs as models write them, as ripgrep takes them without overriding what is ignored.

A plain `--glob` wins over ignore files, a type does not; but types look at names alone. A glob of a path is
looked for by both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agents.toolkit.base import ToolContext
from agents.toolkit.shared import ripgrep, staged
from agents.toolkit.shared.ripgrep import Records

LOOKED_AT = 100_000
"""Names that are compared at most."""

_COMMA = re.compile(r",(?![^{]*\})")
"""Outside of braces."""


def globs_of(text: str, folder: Path) -> list[str]:
    """The globs that a text names, relative to a folder: `*.py,*.js`, `./src/*.py`, `/the/folder/**/*.py`."""
    pieces = [text, *(piece.strip() for piece in _COMMA.split(text) if piece.strip())]
    return [_relative(piece, folder) for piece in dict.fromkeys(pieces)]


def _relative(glob: str, folder: Path) -> str:
    for prefix in (".", str(folder)):
        if glob.startswith(f"{prefix}/"):
            return glob.removeprefix(prefix)
    return glob


def is_of_names(globs: Sequence[str]) -> bool:
    """Whether names alone tell what fits."""
    return not any("/" in glob or ":" in glob for glob in globs)


def options(globs: Sequence[str]) -> list[str]:
    """Options that leave out what is ignored, and files whose names cannot fit."""
    against = [f"--glob={glob}" for glob in globs if glob.startswith("!")]
    names = [_name(glob) for glob in globs if not glob.startswith("!")]
    if not names or not all(names):
        return against
    return [*against, *(f"--type-add=wanted:{name}" for name in names), "--type=wanted"]


def _name(glob: str) -> str:
    """The last part of a glob; empty where it says nothing, or cannot be a type's."""
    name = re.split(r"/(?![^{]*\})", glob)[-1]
    return "" if "**" in name or "/" in name or ":" in name else name


async def fitting(ctx: ToolContext, globs: Sequence[str], folder: Path) -> Records:
    """The names of the files in a folder that fit, the newest first."""
    files = ["--files", "--null", "--sortr=modified"]
    named = await staged.names(ctx, [*files, *options(globs), *ripgrep.excluding()], folder, LOOKED_AT)
    if is_of_names(globs):
        return named
    placed = await staged.names(
        ctx, [*files, *(f"--glob={glob}" for glob in globs), *ripgrep.excluding()], folder, LOOKED_AT
    )
    there = set(placed.found)
    found = [name for name in named.found if name in there]
    return Records(found, named.more or placed.more, named.late or placed.late)

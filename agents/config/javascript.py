"""What runs JavaScript: Bun, as OpenCode has it, or Node.js; TypeScript where that can read it by itself. And
what a file of it imports from beside itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sessions.core.sentences import Sentence

STRIPS_TYPES = (22, 18)
"""The Node.js that reads TypeScript without being told to (https://nodejs.org/api/typescript.html)."""
OLDEST = (20, 0)
TYPESCRIPT = (".ts", ".mts")
ENDINGS = (".js", ".mjs", *TYPESCRIPT)
"""Of the files that OpenCode takes for plugins and tools."""
ASK_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Runtime:
    """`packaged`: it reads the TypeScript of packages, too."""

    program: Sequence[str]
    typescript: bool
    packaged: bool = False


@cache
def found() -> Runtime | None:
    """Bun before Node.js; None where neither is on PATH. Blocks."""
    if bun := shutil.which("bun"):
        return Runtime((bun,), typescript=True, packaged=True)
    node = shutil.which("node")
    version = _version(node) if node else (0, 0)
    if node is None or version < OLDEST:
        return None
    return Runtime((node, "--no-warnings"), version >= STRIPS_TYPES)


def _version(program: str) -> tuple[int, int]:
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=ASK_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0, 0
    numbers = re.match(r"v(\d+)\.(\d+)", said)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def lacking(ending: str, *, packaged: bool = False) -> str:
    """Why a file with this ending cannot be loaded, in words; empty where it can be. Blocks."""
    runtime = found()
    if runtime is None:
        return Sentence("it takes Bun, or Node.js 20 or newer, and neither is on PATH")
    if ending in TYPESCRIPT and packaged and not runtime.packaged:
        return Sentence("it is written in TypeScript, which in a package takes Bun on PATH")
    if ending in TYPESCRIPT and not runtime.typescript:
        return Sentence("TypeScript takes Bun, or Node.js 22.18 or newer, on PATH")
    return ""


_IMPORT = re.compile(
    r"""\b(?:from|import|require|new\s+URL)\s*\(?\s*(?P<quote>["'`])(?P<name>\.{1,2}(?:/[^"'`\n]*)?)(?P=quote)"""
)
SCRIPTS = (*ENDINGS, ".cjs", ".cts", ".jsx", ".tsx")
_ADDED = (*SCRIPTS, ".json")
"""What the name of a file may be written without, as Bun takes it; `resolve.mjs` does that for Node.js."""


def imported(file: Path, content: bytes) -> list[Path]:
    """The files that are there of those that a file imports, or names by `new URL("./…")`, without those of
    packages. What is put together while it runs is not seen, and what stands in a comment is."""
    text = content.decode("utf-8", "replace")
    names = dict.fromkeys(found["name"] for found in _IMPORT.finditer(text))
    found = (_file(Path(os.path.normpath(file.parent / name))) for name in names)
    return [path for path in found if path is not None and "node_modules" not in path.parts]


def _file(path: Path) -> Path | None:
    return next((candidate for candidate in _candidates(path) if candidate.is_file()), None)


def _candidates(path: Path) -> Iterator[Path]:
    yield path
    yield from (path.with_name(path.name + ending) for ending in _ADDED)
    if path.suffix in (".js", ".mjs"):  # TypeScript names what its files would become
        yield path.with_suffix(path.suffix.replace("j", "t"))
    yield from (path / f"index{ending}" for ending in _ADDED)

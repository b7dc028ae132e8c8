"""What runs JavaScript: Bun, as OpenCode has it, or Node.js; TypeScript where that can read it by itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

STRIPS_TYPES = (22, 18)
"""The Node.js that reads TypeScript without being told to (https://nodejs.org/api/typescript.html)."""
OLDEST = (20, 0)
TYPESCRIPT = (".ts", ".mts")
ENDINGS = (".js", ".mjs", *TYPESCRIPT)
"""Of the files that OpenCode takes for plugins and tools."""
ASK_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Runtime:
    program: Sequence[str]
    typescript: bool


@cache
def found() -> Runtime | None:
    """Bun before Node.js; None where neither is on PATH. Blocks."""
    if bun := shutil.which("bun"):
        return Runtime((bun,), True)
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


def is_path(entry: str) -> bool:
    """Whether an entry of `plugin` names a file, and not a package."""
    return entry.startswith((".", "/", "~", "file:"))


def lacking(ending: str) -> str:
    """Why a file with this ending cannot be loaded, in words; empty where it can be. Blocks."""
    runtime = found()
    if runtime is None:
        return "it takes Bun, or Node.js 20 or newer, and neither is on PATH"
    if ending in TYPESCRIPT and not runtime.typescript:
        return "TypeScript takes Bun, or Node.js 22.18 or newer, on PATH"
    return ""

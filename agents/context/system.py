"""The system texts of a request: the stable base prompt first, then what is known of the surroundings.

Source: seed 004 §9; seed 000 §6. Two texts at most, so that a provider's cache keeps the first one.
"""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from agents.definitions import Agent, prompt_text
from agents.llm.types import Model

INSTRUCTION_NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
MAX_INSTRUCTIONS = 64 * 1024


def texts(
    agent: Agent, model: Model, directory: Path, worktree: Path, is_git: bool, extra: str = ""
) -> list[str]:
    """`[base prompt, environment and instructions]`; `extra` is the system text of the user's message."""
    surroundings = [environment(model, directory, is_git), *instructions(directory, worktree), extra]
    return [agent.prompt or prompt_text("default"), "\n\n".join(text for text in surroundings if text)]


def environment(model: Model, directory: Path, is_git: bool) -> str:
    return "\n".join(
        (
            f"You are running on the model {model.name} ({model.ref}).",
            "<env>",
            f"  Working directory: {directory}",
            f"  Is directory a git repository: {'yes' if is_git else 'no'}",
            f"  Platform: {sys.platform}",
            f"  Today's date: {date.today():%a %b %d %Y}",
            "</env>",
        )
    )


def instructions(directory: Path, worktree: Path) -> list[str]:
    """The project's instruction files from its root down to the directory; the first name found counts."""
    folders = [path for path in (directory, *directory.parents) if path.is_relative_to(worktree)]
    found = []
    for folder in reversed(folders):
        for name in INSTRUCTION_NAMES:
            text = _read(folder / name)
            if text:
                found.append(f"Instructions from: {folder / name}\n{text}")
                break
    return found


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_INSTRUCTIONS).strip()
    except OSError:
        return ""

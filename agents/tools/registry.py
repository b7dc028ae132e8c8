"""The tools that come with the program. Source: seed 004 §6.2 and §12.3."""

from __future__ import annotations

from typing import Any

from agents.tools import bash, edit, glob, grep, invalid, list, read, todoread, todowrite, write
from agents.tools.base import Tool

BUILTIN: tuple[Tool[Any], ...] = tuple(
    module.TOOL for module in (bash, edit, glob, grep, invalid, list, read, todoread, todowrite, write)
)
_by_name = {tool.name: tool for tool in BUILTIN}


def find(name: str) -> Tool[Any] | None:
    """The built-in tool of exactly this name."""
    return _by_name.get(name)


def repair(name: str) -> str:
    """The name of the tool a model meant, whatever the case; `invalid` if there is none."""
    wanted = name.strip().lower()
    return wanted if wanted in _by_name else "invalid"

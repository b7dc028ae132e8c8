"""Custom tools and the tools of plugins take part in every turn of their folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.custom_tools.adapt import adapted
from agents.plugins.loaded import refreshed
from agents.plugins.plugin import Plugin
from agents.tools.base import Tool
from agents.tools.registry import BUILTIN, CONTRIBUTORS
from agents.turn import Turn

NAME = "plugins and custom tools"


async def contributed(turn: Turn) -> Sequence[Tool[Any]]:
    """The tools of a turn's folder, as its files are now. A built-in tool keeps its name, and of two tools of
    one name the first counts: the user's own come before the project's."""
    taken = {tool.name: "a built-in tool" for tool in BUILTIN}
    found: list[Tool[Any]] = []
    for plugin in await refreshed(turn.session):
        for definition in plugin.tools:
            if definition.name in taken:
                _complain(plugin, definition.name, taken[definition.name])
                continue
            taken[definition.name] = str(plugin.file)
            found.append(adapted(definition, repository=plugin.repository))
    return found


def _complain(plugin: Plugin, name: str, other: str) -> None:
    """Once for each loading of the file."""
    key = f"tool {name}"
    if key not in plugin.told:
        plugin.told.add(key)
        plugin.fault(key, f"left out: {other} has this name")


def register() -> None:
    CONTRIBUTORS[NAME] = contributed

"""The tools of a turn: those that come with the program, and those that others contribute.

A contributor is a function from a turn to tools; plugins, custom tools and
MCP servers register themselves in CONTRIBUTORS.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.llm.types import ToolSpec
from agents.toolkit.base import Tool
from agents.toolkit.mentions import fitting
from agents.toolkit.names import NAMES
from agents.toolkit.permission.rules import hidden_tools
from agents.toolkit.turn import Turn
from agents.tools import (
    apply_patch,
    bash,
    batch,
    codesearch,
    edit,
    glob,
    grep,
    invalid,
    list,
    multiedit,
    plan_enter,
    plan_exit,
    question,
    read,
    skill,
    task,
    todoread,
    todowrite,
    webfetch,
    websearch,
    write,
)
from agents.tools.structured import Form

logger = logging.getLogger(__name__)

BUILTIN: tuple[Tool[Any], ...] = (
    apply_patch.TOOL,
    bash.TOOL,
    batch.TOOL,
    codesearch.TOOL,
    edit.TOOL,
    glob.TOOL,
    grep.TOOL,
    invalid.TOOL,
    list.TOOL,
    multiedit.TOOL,
    plan_enter.TOOL,
    plan_exit.TOOL,
    question.TOOL,
    read.TOOL,
    skill.TOOL,
    task.TOOL,
    todoread.TOOL,
    todowrite.TOOL,
    webfetch.TOOL,
    websearch.TOOL,
    write.TOOL,
)

Contributor = Callable[[Turn], Awaitable[Sequence[Tool[Any]]]]

CONTRIBUTORS: dict[str, Contributor] = {}
"""By a name for the log; a contributor that raises is logged and left out."""


@dataclass(frozen=True, slots=True)
class Toolset:
    """What a turn's calls may name. A tool that is not offered can still be found, so that its call gets
    the answer of the permission rules and not "there is no such tool". `form` is what the answer has to look
    like, where that is asked for; its tool is always offered."""

    tools: Mapping[str, Tool[Any]]
    form: Form | None = None

    def find(self, name: str) -> Tool[Any]:
        """The tool a model meant, whatever the case; `invalid` if there is none."""
        if name in self.tools:
            return self.tools[name]
        by_lower = {known.lower(): tool for known, tool in self.tools.items()}
        return by_lower.get(name.strip().lower()) or self.tools["invalid"]

    def specs(self, turn: Turn, chosen: Mapping[str, bool]) -> Sequence[ToolSpec]:
        """What the model is shown: not what rules deny outright, what the prompt switched off, or what does
        not suit the turn; descriptions name no built-in tool that is not among them."""
        hidden = hidden_tools(((tool.name, tool.permission) for tool in self.tools.values()), turn.rules)
        shown = [
            tool
            for tool in self.tools.values()
            if not tool.permission
            or (
                tool.name not in hidden
                and tool.name != "invalid"
                and chosen.get(tool.name, True)
                and tool.offered(turn)
            )
        ]
        names = [tool.name for tool in shown]
        return [ToolSpec(tool.name, _described(tool, turn, names), tool.schema(turn)) for tool in shown]


def _described(tool: Tool[Any], turn: Turn, names: Collection[str]) -> str:
    text = tool.describe(turn) if tool.describe else tool.description
    return fitting(text, names) if tool.name in NAMES else text


async def toolset(turn: Turn, form: Form | None = None) -> Toolset:
    """All tools of a turn by name, that of the form with them; a contributed one never takes the place of a
    built-in one."""
    own = (*BUILTIN, form.tool) if form else BUILTIN
    tools: dict[str, Tool[Any]] = {tool.name: tool for tool in own}
    for name, contribute in CONTRIBUTORS.items():
        try:
            for tool in await contribute(turn):
                if tools.setdefault(tool.name, tool) is not tool:
                    logger.warning("the tool %s of %s is left out: the name is taken", tool.name, name)
        except Exception:
            logger.exception("the tools of %s are left out", name)
    return Toolset(tools, form)

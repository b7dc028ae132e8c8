"""A subagent works in a child session of its own: own history, own lease, own stop (seed 004 §2.4)."""

from __future__ import annotations

from agents.runtime.run import Run
from agents.tools.base import Errand, Report, ToolContext, ToolError


async def delegate(run: Run, context: ToolContext, errand: Errand) -> Report:
    raise ToolError("There are no subagents yet.")

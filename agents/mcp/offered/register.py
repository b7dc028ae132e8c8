"""What MCP servers offer takes part in turns and prompts."""

from __future__ import annotations

from agents.context.registry import PRODUCERS
from agents.mcp.offered import instructions, resources, tools
from agents.runtime.attachments.readers import READERS
from agents.tools.registry import CONTRIBUTORS


def register() -> None:
    CONTRIBUTORS[tools.NAME] = tools.contributed
    PRODUCERS[instructions.KEY] = instructions.produce
    READERS[resources.NAME] = resources.attached

"""What MCP servers offer takes part in turns and prompts."""

from __future__ import annotations

from agents.agent.attachments.readers import READERS
from agents.agent.context.registry import PRODUCERS
from agents.agent.offered import instructions, resources, tools
from agents.tools.registry import CONTRIBUTORS


def register() -> None:
    CONTRIBUTORS[tools.NAME] = tools.contributed
    PRODUCERS[instructions.KEY] = instructions.produce
    READERS[resources.NAME] = resources.attached

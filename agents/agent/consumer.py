"""The background consumer on channel "agent": hand each message to the runtime's thread and return."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from channels.consumer import AsyncConsumer

from agents.agent import pauses
from agents.agent.runtime import runtime
from agents.config import configuration
from agents.servers.lsp.service import service
from agents.servers.mcp.hub import hub


class AgentConsumer(AsyncConsumer):
    """Messages are those of `sessions.core.wake`; the rows say what is to be done."""

    async def session_wake(self, message: dict[str, str]) -> None:
        runtime.wake(message["session"])

    async def comparison_wake(self, message: dict[str, str]) -> None:
        runtime.compare()

    async def session_interrupt(self, message: dict[str, str]) -> None:
        runtime.interrupt(message["session"], int(message["epoch"]))

    async def session_hasten(self, message: dict[str, str]) -> None:
        runtime.call(pauses.hasten, message["session"])

    async def permission_answered(self, message: dict[str, str]) -> None:
        runtime.answered(message["request"])

    async def instance_disposed(self, message: dict[str, str]) -> None:
        begin(message["directory"])


# What was started for a folder ends with its instance (`/instance/dispose`): MCP and language servers.

logger = logging.getLogger(__name__)

_running: set[asyncio.Task[None]] = set()


def begin(directory: str) -> None:
    """Return at once; on the loop that goes on. An empty `directory` is for all folders."""
    task = asyncio.create_task(_dispose(Path(directory) if directory else None))
    _running.add(task)
    task.add_done_callback(_running.discard)


async def _dispose(directory: Path | None) -> None:
    """MCP servers start again at once, language servers when a file needs them."""
    for each in (hub.dispose, service.dispose):
        try:
            await each(directory)
        except Exception:
            logger.exception("not all servers of %s were started again", directory or "the folders")
    configuration.configured(directory)

"""What was started for a folder ends with its instance (`/instance/dispose`): MCP and language servers."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from agents.lsp.service import service
from agents.mcp.hub import hub

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

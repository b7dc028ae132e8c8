"""The only way from `sessions` to `agents`: a message on one named channel.

A message is a hint; the worker reads the rows. Every worker hears every message, as Redis Pub/Sub has it:
whoever holds the session's lease, or gets it, acts. Call these from the server's event loop.
"""

from __future__ import annotations

import logging

from channels.layers import get_channel_layer
from django.conf import settings

logger = logging.getLogger(__name__)


async def wake(session_id: str) -> None:
    """There is something to do in a session: an Admitted Prompt waits."""
    await _hint({"type": "session.wake", "session": session_id})


async def compare() -> None:
    """Attempts of a comparison may begin."""
    await _hint({"type": "comparison.wake"})


async def interrupt(session_id: str, epoch: int) -> None:
    """A session's turn is to be stopped now, as its row says: the one under the lease of this epoch. With 0,
    where the row could not be written, whatever runs."""
    await _hint({"type": "session.interrupt", "session": session_id, "epoch": str(epoch)})


async def hasten(session_id: str) -> None:
    """The next attempt of a turn that waits for one is wanted now. Lost, it comes when it is due."""
    await _hint({"type": "session.hasten", "session": session_id})


async def answered(session_id: str, request_id: str) -> None:
    """A permission request, or a question, has its answer in the row."""
    await _hint({"type": "permission.answered", "session": session_id, "request": request_id})


async def disposed(directory: str = "") -> None:
    """What was started for a folder, or for any (empty), is to begin anew. Raises as `interrupt`."""
    await _send({"type": "instance.disposed", "directory": directory})


async def _hint(message: dict[str, str]) -> None:
    """A worker's heartbeat finds in the rows what a lost hint would have told it."""
    try:
        await _send(message)
    except Exception:
        logger.exception("a hint to the workers was lost")


async def _send(message: dict[str, str]) -> None:
    layer = get_channel_layer()
    assert layer is not None, "CHANNEL_LAYERS has no default"
    await layer.send(settings.AGENT_CHANNEL, message)

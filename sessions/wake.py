"""The only way from `sessions` to `agents`: a message on the channel "agent" (design, Rooms).

A message is a hint; the worker reads the rows. Call these from the server's event loop.
"""

from __future__ import annotations

from channels.layers import get_channel_layer

CHANNEL = "agent"


async def wake(session_id: str) -> None:
    """There is something to do in a session: an Admitted Prompt waits."""
    await _send({"type": "session.wake", "session": session_id})


async def interrupt(session_id: str) -> None:
    """Stop the session's running turn now."""
    await _send({"type": "session.interrupt", "session": session_id})


async def answered(session_id: str, request_id: str) -> None:
    """A permission request has its answer in the row."""
    await _send({"type": "permission.answered", "session": session_id, "request": request_id})


async def _send(message: dict[str, str]) -> None:
    layer = get_channel_layer()
    assert layer is not None, "CHANNEL_LAYERS has no default"
    await layer.send(CHANNEL, message)

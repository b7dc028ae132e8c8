"""Two connections that are joined."""

from __future__ import annotations

import asyncio
from contextlib import suppress

_PIECE = 64 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def joined(inside: Streams, outside: Streams) -> None:
    """What comes at one end goes out at the other, until both have ended; then `outside` is closed."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_copied(inside[0], outside[1]))
            group.create_task(_copied(outside[0], inside[1]))
    except* OSError:
        pass
    finally:
        outside[1].close()


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.write_eof()

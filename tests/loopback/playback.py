"""Plays one turn on a connection: its pace, its gates and its faults."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from tests.loopback.gates import Gate
from tests.loopback.pieces import Encoder, Piece, Text, pieces
from tests.loopback.script import Cut, Empty, HttpError, StreamError, Turn, Wait
from tests.loopback.wire import STREAM_END, STREAM_HEAD, chunk, response, sse


async def play(
    turn: Turn,
    encoder: Encoder,
    error_event: str,
    gate: Callable[[str], Gate],
    writer: asyncio.StreamWriter,
) -> None:
    """Write the whole answer; the connection is not used again."""
    if turn.gate:
        await gate(turn.gate).passed()
    if isinstance(turn.fault, HttpError):
        writer.write(_http_error(turn.fault, encoder))
    else:
        writer.write(STREAM_HEAD)
        if not isinstance(turn.fault, Empty):
            await _play_events(turn, encoder, error_event, gate, writer)
        writer.write(STREAM_END)
    if not isinstance(turn.fault, Cut):
        await writer.drain()


def _http_error(error: HttpError, encoder: Encoder) -> bytes:
    body = json.dumps(encoder.error(error)) if error.body is None else error.body
    return response(error.status, body, {"connection": "close", **(error.headers or {})})


async def _play_events(
    turn: Turn,
    encoder: Encoder,
    error_event: str,
    gate: Callable[[str], Gate],
    writer: asyncio.StreamWriter,
) -> None:
    writer.write(chunk(b"".join(encoder.start(turn.usage))))
    await _play_deltas(turn, encoder, gate, writer)
    match turn.fault:
        case Cut():
            writer.transport.abort()
        case StreamError():
            writer.write(chunk(sse(encoder.error(turn.fault), error_event)))
        case _:
            writer.write(chunk(b"".join(encoder.end(turn))))


async def _play_deltas(
    turn: Turn, encoder: Encoder, gate: Callable[[str], Gate], writer: asyncio.StreamWriter
) -> None:
    left = turn.fault.after if isinstance(turn.fault, Cut | StreamError) else -1
    due = time.monotonic()
    for piece in pieces(turn):
        if left == 0:
            return
        if isinstance(piece, Wait):
            await gate(piece.gate).passed()
            due = time.monotonic()
            continue
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        due += turn.delay
        left -= 1
        # A protocol has no frame for some pieces, and an empty chunk would end the stream.
        if data := b"".join(encoder.delta(_stamped(piece) if turn.stamp else piece)):
            writer.write(chunk(data))
        await writer.drain()


def _stamped(piece: Piece) -> Piece:
    has_words = isinstance(piece, Text) and not piece.text.isspace()
    return Text(f"{time.time_ns()} ") if has_words else piece

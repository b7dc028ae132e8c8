"""Anthropic's streaming messages on loopback: `python -m tests.loopback.anthropic --port N --script FILE`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.loopback.cli import main
from tests.loopback.pieces import (
    CallInput,
    CallStart,
    Encoder,
    Hosted,
    Piece,
    Reasoning,
    Redacted,
    Signature,
    Text,
)
from tests.loopback.script import Body, HttpError, StreamError, TokenUsage, Turn
from tests.loopback.server import LoopbackServer
from tests.loopback.wire import sse

FINISH = {
    "stop": "end_turn",
    "tool-calls": "tool_use",
    "length": "max_tokens",
    "content-filter": "refusal",
}


class AnthropicEncoder:
    """Named events; content blocks open and close as the kind of delta changes."""

    def __init__(self, body: Body) -> None:
        self._model = body.get("model", "")
        self._index = -1
        self._open: object = None

    def start(self, usage: TokenUsage) -> Iterator[bytes]:
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.input,
                "cache_read_input_tokens": usage.cache_read,
                "cache_creation_input_tokens": usage.cache_write,
                "output_tokens": 1,
            },
        }
        yield self._event("message_start", message=message)
        yield self._event("ping")

    def delta(self, piece: Piece) -> Iterator[bytes]:
        match piece:
            case Redacted(data):
                yield from self._enter(piece, {"type": "redacted_thinking", "data": data})
            case Reasoning(text):
                yield from self._enter("thinking", {"type": "thinking", "thinking": "", "signature": ""})
                yield self._delta(type="thinking_delta", thinking=text)
            case Signature(data):
                yield from self._enter("thinking", {"type": "thinking", "thinking": "", "signature": ""})
                yield self._delta(type="signature_delta", signature=data)
            case Hosted(block):
                yield from self._enter(piece, dict(block))
            case Text(text):
                yield from self._enter("text", {"type": "text", "text": ""})
                yield self._delta(type="text_delta", text=text)
            case CallStart(_, use):
                yield from self._enter(
                    piece, {"type": "tool_use", "id": use.id, "name": use.name, "input": {}}
                )
            case CallInput(_, text):
                yield self._delta(type="input_json_delta", partial_json=text)

    def end(self, turn: Turn) -> Iterator[bytes]:
        yield from self._leave()
        delta = {"stop_reason": FINISH[turn.finish_reason], "stop_sequence": None}
        output = turn.usage.output + turn.usage.reasoning
        yield self._event("message_delta", delta=delta, usage={"output_tokens": output})
        yield self._event("message_stop")

    def error(self, error: StreamError | HttpError) -> dict[str, Any]:
        return {"type": "error", "error": {"type": error.type, "message": error.message}}

    def _enter(self, kind: object, block: dict[str, Any]) -> Iterator[bytes]:
        if self._open == kind:
            return
        yield from self._leave()
        self._open = kind
        self._index += 1
        yield self._event("content_block_start", index=self._index, content_block=block)

    def _leave(self) -> Iterator[bytes]:
        if self._open is not None:
            self._open = None
            yield self._event("content_block_stop", index=self._index)

    def _delta(self, **delta: str) -> bytes:
        return self._event("content_block_delta", index=self._index, delta=delta)

    def _event(self, name: str, **data: Any) -> bytes:
        return sse({"type": name, **data}, event=name)


class AnthropicServer(LoopbackServer):
    """`POST /v1/messages` (always streams) and `GET /v1/models`."""

    path = "/v1/messages"
    error_event = "error"

    def encoder(self, body: Body) -> Encoder:
        return AnthropicEncoder(body)


if __name__ == "__main__":
    main(AnthropicServer)

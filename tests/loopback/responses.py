"""OpenAI's streaming responses on loopback, as ChatGPT and some of Copilot's models speak them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.loopback.pieces import CallInput, CallStart, Encoder, Hosted, Piece, Reasoning, Signature, Text
from tests.loopback.script import Body, HttpError, StreamError, TokenUsage, ToolUse, Turn
from tests.loopback.server import LoopbackServer
from tests.loopback.wire import sse

INCOMPLETE = {"length": "max_output_tokens", "content-filter": "content_filter"}


class ResponsesEncoder:
    """Items of the output in order: reasoning, a message, function calls."""

    def __init__(self, body: Body) -> None:
        self._model = body.get("model", "")
        self._place = -1
        self._item: dict[str, Any] = {}

    def start(self, usage: TokenUsage) -> Iterator[bytes]:
        yield self._event("response.created", response={"id": "resp_1", "model": self._model})

    def delta(self, piece: Piece) -> Iterator[bytes]:
        match piece:
            case Reasoning(text):
                yield from self._enter("reasoning")
                yield self._at("response.reasoning_summary_text.delta", delta=text)
            case Signature(data):
                yield from self._enter("reasoning")
                self._item["encrypted_content"] = data
            case Hosted(item):
                yield from self._leave()
                yield from self._add({**item, "status": "in_progress"})
                self._item = dict(item)
            case Text(text):
                yield from self._enter("message")
                yield self._at("response.output_text.delta", delta=text)
            case CallStart(_, use):
                yield from self._call(use)
            case CallInput(_, text):
                yield self._at("response.function_call_arguments.delta", delta=text)

    def end(self, turn: Turn) -> Iterator[bytes]:
        yield from self._leave()
        response: dict[str, Any] = {"id": "resp_1", "usage": _usage(turn.usage)}
        reason = INCOMPLETE.get(turn.finish_reason)
        if reason:
            response["incomplete_details"] = {"reason": reason}
        yield self._event(f"response.{'incomplete' if reason else 'completed'}", response=response)

    def error(self, error: StreamError | HttpError) -> dict[str, Any]:
        return {"type": "error", "error": {"message": error.message, "type": error.type}}

    def _enter(self, kind: str) -> Iterator[bytes]:
        if self._item.get("type") != kind:
            yield from self._leave()
            yield from self._add({"type": kind})

    def _call(self, use: ToolUse) -> Iterator[bytes]:
        yield from self._leave()
        call = {"type": "function_call", "call_id": use.id, "name": use.name, "arguments": ""}
        yield from self._add(call)
        self._item["arguments"] = use.raw

    def _add(self, item: dict[str, Any]) -> Iterator[bytes]:
        self._place += 1
        self._item = dict(item)
        yield self._at("response.output_item.added", item=item)

    def _leave(self) -> Iterator[bytes]:
        if self._item:
            yield self._at("response.output_item.done", item=self._item)
            self._item = {}

    def _at(self, kind: str, **fields: Any) -> bytes:
        return self._event(kind, output_index=self._place, **fields)

    def _event(self, kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, **fields}, kind)


def _usage(usage: TokenUsage) -> dict[str, Any]:
    given = usage.input + usage.cache_read
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output + usage.reasoning,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": given + usage.output + usage.reasoning,
    }


class ResponsesServer(LoopbackServer):
    """`POST /v1/responses`, which always streams."""

    path = "/v1/responses"
    error_event = "error"

    def encoder(self, body: Body) -> Encoder:
        return ResponsesEncoder(body)

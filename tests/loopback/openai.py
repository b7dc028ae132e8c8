"""OpenAI's streaming chat completions: `python -m tests.loopback.openai --port N --script FILE`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.loopback.cli import main
from tests.loopback.pieces import CallInput, CallStart, Encoder, Piece, Reasoning, Text
from tests.loopback.script import Body, HttpError, StreamError, TokenUsage, Turn
from tests.loopback.server import LoopbackServer
from tests.loopback.wire import sse

FINISH = {
    "stop": "stop",
    "tool-calls": "tool_calls",
    "length": "length",
    "content-filter": "content_filter",
}


class OpenAIEncoder:
    """`chat.completion.chunk` frames; the usage chunk only when the request asked for it."""

    def __init__(self, body: Body) -> None:
        self._model = body.get("model", "")
        self._with_usage = bool((body.get("stream_options") or {}).get("include_usage"))

    def start(self, usage: TokenUsage) -> Iterator[bytes]:
        yield self._frame({"role": "assistant", "content": ""})

    def delta(self, piece: Piece) -> Iterator[bytes]:
        match piece:
            case Text(text):
                yield self._frame({"content": text})
            case Reasoning(text):
                yield self._frame({"reasoning_content": text})
            case CallStart(index, use):
                function = {"name": use.name, "arguments": ""}
                call = {"index": index, "id": use.id, "type": "function", "function": function}
                yield self._frame({"tool_calls": [call]})
            case CallInput(index, text):
                yield self._frame({"tool_calls": [{"index": index, "function": {"arguments": text}}]})

    def end(self, turn: Turn) -> Iterator[bytes]:
        yield self._frame({}, FINISH[turn.finish_reason])
        if self._with_usage:
            yield sse({**self._envelope(), "choices": [], "usage": _usage(turn.usage)})
        yield sse("[DONE]")

    def error(self, error: StreamError | HttpError) -> dict[str, Any]:
        return {"error": {"message": error.message, "type": error.type, "param": None, "code": None}}

    def _frame(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return sse({**self._envelope(), "choices": [choice]})

    def _envelope(self) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": self._model}


def _usage(usage: TokenUsage) -> dict[str, Any]:
    prompt = usage.input + usage.cache_read + usage.cache_write
    completion = usage.output + usage.reasoning
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


class OpenAIServer(LoopbackServer):
    """`POST /v1/chat/completions` (always streams) and `GET /v1/models`."""

    path = "/v1/chat/completions"

    def encoder(self, body: Body) -> Encoder:
        return OpenAIEncoder(body)


if __name__ == "__main__":
    main(OpenAIServer)

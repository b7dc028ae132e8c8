"""Direct reader of the Anthropic messages stream (docs/decisions/0005-direct-readers.md says why)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from agents.llm import errors
from agents.llm.readers import anthropic_body
from agents.llm.readers.calls import complete
from agents.llm.readers.openai_body import encode
from agents.llm.readers.openai_chat import parse
from agents.llm.readers.transport import drain, post_events
from agents.llm.types import (
    Finish,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
    Usage,
)

_VERSION = "2023-06-01"
_INTERLEAVED = "interleaved-thinking-2025-05-14"


async def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Stream one answer; see `agents.llm.stream`."""
    model = request.model
    body = encode(anthropic_body.build(request))
    decoder = MessageDecoder(errors.secrets_of(model))
    async with aclosing(post_events(model, "/messages", _headers(request), body)) as payloads:
        async for payload in payloads:
            for event in decoder.feed(parse(payload, model)):
                yield event
            if decoder.stopped:
                break
        await drain(payloads)
    for event in decoder.finish():
        yield event


def _headers(request: ModelRequest) -> dict[str, str]:
    model = request.model
    headers = {"anthropic-version": _VERSION}
    if model.api_key:
        headers["x-api-key"] = model.api_key
    if anthropic_body.thinking_of(request.settings):
        headers["anthropic-beta"] = _INTERLEAVED
    for name, value in model.headers.items():
        lowered = name.lower()
        joins = lowered == "anthropic-beta" and lowered in headers
        headers[lowered] = f"{headers[lowered]},{value}" if joins else value
    return headers


class MessageDecoder:
    """Events of a message stream in, typed events out. A block is open between its start and its stop."""

    __slots__ = ("_block", "_calls", "_reason", "_secrets", "_text", "_usage", "stopped")

    def __init__(self, secrets: list[str]) -> None:
        self.stopped = False
        self._secrets = secrets
        self._block: dict[str, Any] = {}
        self._text: list[str] = []
        self._calls: list[ToolCall] = []
        self._reason = ""
        self._usage: dict[str, Any] = {}

    def feed(self, event: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """The typed events of one event. Raises ModelError when it reports an error."""
        match event.get("type"):
            case "content_block_delta":
                yield from self._delta(event.get("delta") or {})
            case "content_block_start":
                yield from self._start(event.get("content_block") or {})
            case "content_block_stop":
                yield from self._stop()
            case "message_start":
                self._count((event.get("message") or {}).get("usage"))
            case "message_delta":
                self._reason = (event.get("delta") or {}).get("stop_reason") or self._reason
                self._count(event.get("usage"))
            case "message_stop":
                self.stopped = True
            case "error":
                raise errors.from_event(event.get("error") or dict(event), secrets=self._secrets)

    def finish(self) -> Iterator[ModelEvent]:
        """What is due at the end. Raises ModelError when the stream was cut before its end."""
        if not (self.stopped or self._reason):
            raise ModelError("The answer was cut before its end.", retryable=True)
        yield from self._calls
        reason = "tool_use" if self._calls else self._reason
        yield Finish(_REASONS.get(reason, "unknown"), _usage(self._usage))

    def _start(self, block: dict[str, Any]) -> Iterator[ModelEvent]:
        self._block, self._text = block, []
        match block.get("type"):
            case "text" if block.get("text"):
                yield TextDelta(block["text"])
            case "thinking" if block.get("thinking"):
                yield ReasoningDelta(block["thinking"])
            case "tool_use":
                yield ToolInputStart(block["id"], block["name"])

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        match delta.get("type"):
            case "text_delta" if delta["text"]:
                yield TextDelta(delta["text"])
            case "thinking_delta" if delta["thinking"]:
                yield ReasoningDelta(delta["thinking"])
            case "input_json_delta" if delta["partial_json"]:
                self._text.append(delta["partial_json"])
                if self._block.get("type") == "tool_use":
                    yield ToolInputDelta(self._block["id"], delta["partial_json"])
            case "signature_delta":
                self._block["signature"] = self._block.get("signature", "") + delta["signature"]

    def _stop(self) -> Iterator[ModelEvent]:
        block, self._block = self._block, {}
        match block.get("type"):
            case "thinking":
                yield ReasoningEnd({"signature": block.get("signature", "")})
            case "redacted_thinking":
                yield ReasoningEnd({"redacted": block.get("data", "")})
            case "tool_use":
                self._calls.append(self._call(block))

    def _call(self, block: Mapping[str, Any]) -> ToolCall:
        raw = "".join(self._text)
        if not raw and block.get("input"):
            raw = encode(block["input"]).decode()
        return complete(block["id"], block["name"], raw)

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        """Later figures replace earlier ones: they are sums so far."""
        self._usage.update({name: value for name, value in (usage or {}).items() if value is not None})


_REASONS: dict[str, Any] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}


def _usage(raw: Mapping[str, Any]) -> Usage:
    return Usage(
        input=raw.get("input_tokens", 0),
        output=raw.get("output_tokens", 0),
        cache_read=raw.get("cache_read_input_tokens", 0),
        cache_write=raw.get("cache_creation_input_tokens", 0),
    )

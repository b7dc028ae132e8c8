"""Direct reader of the OpenAI responses stream (docs/decisions/0005-direct-readers.md says why)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from agents.llm import errors
from agents.llm.readers import calls, openai_body
from agents.llm.readers.openai_chat import parse
from agents.llm.readers.responses.body import build
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

_TEXT = frozenset({"response.output_text.delta", "response.refusal.delta"})
_REASONING = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.done"})
_REASONS: Mapping[str, Any] = {"max_output_tokens": "length", "content_filter": "content-filter"}


async def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Stream one answer; see `agents.llm.stream`."""
    model = request.model
    headers = {"authorization": f"Bearer {model.api_key}"} if model.api_key else {}
    body = openai_body.encode(build(request))
    decoder = ResponsesDecoder(errors.secrets_of(model))
    async with aclosing(post_events(model, "/responses", headers | dict(model.headers), body)) as payloads:
        async for payload in payloads:
            for event in decoder.feed(parse(payload, model)):
                yield event
            if decoder.done:
                break
        await drain(payloads)
    for event in decoder.finish():
        yield event


class ResponsesDecoder:
    """Events of a response in, typed events out. Items are told apart by their place in the output."""

    __slots__ = ("_complete", "_open", "_reason", "_secrets", "_thinking", "_usage", "done")

    def __init__(self, secrets: list[str]) -> None:
        self.done = False
        self._secrets = secrets
        self._open: dict[int, tuple[str, str]] = {}
        """Call id and name of the calls by their place."""
        self._complete: list[ToolCall] = []
        self._reason: Any = "stop"
        self._thinking = False
        self._usage = Usage()

    def feed(self, event: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """What one event says. Raises ModelError when it reports an error."""
        kind, place = event.get("type", ""), event.get("output_index", 0)
        item = event.get("item") or {}
        if kind in _TEXT:
            yield TextDelta(event.get("delta", ""))
        elif kind in _REASONING:
            self._thinking = True
            yield ReasoningDelta(event.get("delta", ""))
        elif kind == "response.reasoning_summary_part.added" and self._thinking:
            yield ReasoningDelta("\n\n")
        elif kind == "response.output_item.added" and item.get("type") == "function_call":
            yield from self._begun(place, item)
        elif kind == "response.function_call_arguments.delta" and place in self._open:
            yield ToolInputDelta(self._open[place][0], event.get("delta", ""))
        elif kind == "response.output_item.done":
            yield from self._ended(place, item)
        elif kind in _ENDS:
            self._end(event.get("response") or {})
        elif kind in ("response.failed", "error"):
            error = (event.get("response") or {}).get("error") or event.get("error") or dict(event)
            raise errors.from_event(error, secrets=self._secrets)

    def finish(self) -> Iterator[ModelEvent]:
        """What is due at the end. Raises ModelError when the stream was cut before its end."""
        if not self.done:
            raise ModelError("The answer was cut before its end.", retryable=True)
        yield from self._complete
        yield Finish("tool-calls" if self._complete else self._reason, self._usage)

    def _begun(self, place: int, item: Mapping[str, Any]) -> Iterator[ModelEvent]:
        self._open[place] = item.get("call_id") or calls.make_id(), item.get("name") or ""
        yield ToolInputStart(*self._open[place])

    def _ended(self, place: int, item: Mapping[str, Any]) -> Iterator[ModelEvent]:
        if item.get("type") == "reasoning":
            yield from self._thought(item.get("encrypted_content"))
        elif item.get("type") == "function_call":
            if place not in self._open:
                yield from self._begun(place, item)
            self._complete.append(calls.complete(*self._open[place], item.get("arguments") or ""))

    def _thought(self, sealed: str | None) -> Iterator[ModelEvent]:
        if sealed and not self._thinking:
            yield ReasoningDelta("")  # nothing to read, but it has to go back
        if sealed or self._thinking:
            yield ReasoningEnd({"encrypted": sealed} if sealed else {})
        self._thinking = False

    def _end(self, response: Mapping[str, Any]) -> None:
        self.done = True
        self._usage = read_usage(response.get("usage") or {})
        if reason := (response.get("incomplete_details") or {}).get("reason"):
            self._reason = _REASONS.get(reason, "unknown")


def read_usage(raw: Mapping[str, Any]) -> Usage:
    """Token counts with the cached and the reasoning tokens taken out of the sums they are part of."""
    cached = (raw.get("input_tokens_details") or {}).get("cached_tokens") or 0
    reasoning = (raw.get("output_tokens_details") or {}).get("reasoning_tokens") or 0
    return Usage(
        input=max((raw.get("input_tokens") or 0) - cached, 0),
        output=max((raw.get("output_tokens") or 0) - reasoning, 0),
        reasoning=reasoning,
        cache_read=cached,
    )

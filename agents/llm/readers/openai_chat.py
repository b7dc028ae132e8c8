"""Direct reader of the OpenAI chat-completions stream (docs/decisions/0005-direct-readers.md says why)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from agents.llm import errors
from agents.llm.readers import openai_body
from agents.llm.readers.calls import CallAssembler
from agents.llm.readers.transport import drain, post_events
from agents.llm.types import (
    Finish,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    Usage,
)

_REASONING_FIELDS = ("reasoning_content", "reasoning")
_DONE = "[DONE]"


async def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Stream one answer; see `agents.llm.stream`."""
    model = request.model
    headers = {"authorization": f"Bearer {model.api_key}"} if model.api_key else {}
    body = openai_body.encode(openai_body.build(request))
    decoder = ChatDecoder(errors.secrets_of(model))
    async with aclosing(
        post_events(model, "/chat/completions", headers | dict(model.headers), body)
    ) as payloads:
        async for payload in payloads:
            if payload == _DONE:
                decoder.done = True
                break
            for event in decoder.feed(parse(payload, model)):
                yield event
        await drain(payloads)
    for event in decoder.finish():
        yield event


def parse(payload: str, model: Model) -> dict[str, Any]:
    """The JSON object of one event; raises ModelError when it is none."""
    try:
        parsed = json.loads(payload)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise ModelError(
            f"{model.ref} sent a line that is no JSON object: {payload[:200]}", body=payload[:2000]
        )
    return parsed


class ChatDecoder:
    """Chunks of a chat completion in, typed events out."""

    __slots__ = ("_calls", "_field", "_finish", "_secrets", "_spoke", "_usage", "done")

    def __init__(self, secrets: list[str]) -> None:
        self.done = False
        self._secrets = secrets
        self._calls = CallAssembler()
        self._field = ""
        self._finish = ""
        self._spoke = False
        self._usage = Usage()

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """The events of one chunk. Raises ModelError when the chunk reports an error."""
        if chunk.get("error") or chunk.get("object") == "error":
            raise errors.from_event(chunk.get("error") or chunk, secrets=self._secrets)
        if usage := chunk.get("usage"):
            self._usage = read_usage(usage)
        for choice in chunk.get("choices") or ():
            if delta := choice.get("delta"):
                yield from self._delta(delta)
            if reason := choice.get("finish_reason"):
                self._finish = reason
            if usage := choice.get("usage"):
                self._usage = read_usage(usage)

    def finish(self) -> Iterator[ModelEvent]:
        """What is due at the end. Raises ModelError when the stream was cut before its end."""
        if not self._finish and not (self.done and self._spoke):
            what = "ended without an answer" if self.done else "was cut before its end"
            raise ModelError(f"The answer {what}.", retryable=True)
        yield from self._end_reasoning()
        yield from self._calls.finish()
        reason = "tool_calls" if self._calls else self._finish or "stop"
        yield Finish(_REASONS.get(reason, "unknown"), self._usage)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        for field in _REASONING_FIELDS:
            if text := delta.get(field):
                self._field = field
                yield ReasoningDelta(text)
                break
        if text := delta.get("content") or delta.get("refusal"):
            self._spoke = True
            if self._field:
                yield from self._end_reasoning()
            yield TextDelta(text)
        if calls := delta.get("tool_calls"):
            self._spoke = True
            yield from self._end_reasoning()
            for call in calls:
                yield from self._calls.add(call)

    def _end_reasoning(self) -> Iterator[ModelEvent]:
        if self._field:
            yield ReasoningEnd({"field": self._field})
            self._field = ""


_REASONS: dict[str, Any] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
}


def read_usage(raw: Mapping[str, Any]) -> Usage:
    """Token counts with the cached and the reasoning tokens taken out of the two sums they are part of."""
    prompt, completion = raw.get("prompt_tokens") or 0, raw.get("completion_tokens") or 0
    read_from = raw.get("prompt_tokens_details") or {}
    spent_on = raw.get("completion_tokens_details") or {}
    cached = read_from.get("cached_tokens") or raw.get("prompt_cache_hit_tokens") or 0
    written = raw.get("cache_creation_input_tokens") or read_from.get("cache_write_tokens") or 0
    reasoning = spent_on.get("reasoning_tokens") or 0
    # Some servers count reasoning beside the completion, and only their total shows it.
    beside = reasoning and raw.get("total_tokens") == prompt + completion + reasoning
    return Usage(
        input=max(prompt - cached - written, 0),
        output=completion if beside else max(completion - reasoning, 0),
        reasoning=reasoning,
        cache_read=cached,
        cache_write=written,
    )

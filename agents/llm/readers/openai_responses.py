"""Direct reader of the OpenAI responses stream (docs/decisions/0005-direct-readers.md says why).

What OpenAI by key, ChatGPT and some of Copilot's models are asked by.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

from agents.llm import errors, families
from agents.llm.readers import calls, openai_body, server_tools
from agents.llm.readers.decoding import decoded
from agents.llm.readers.openai_body import output_limit, with_fields
from agents.llm.readers.openai_chat import words_of
from agents.llm.readers.transport import post_events, session_headers
from agents.llm.settings.domains import Controls
from agents.llm.types import (
    ChatMessage,
    FileContent,
    Finish,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    ProviderCallContent,
    ReasoningContent,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
    ToolCall,
    ToolCallContent,
    ToolInputDelta,
    ToolInputStart,
    ToolResultContent,
    Usage,
)

_REFUSAL = "response.refusal.delta"
_TEXT = frozenset({"response.output_text.delta", _REFUSAL})
_REASONING = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.done"})
_REASONS: Mapping[str, Any] = {"max_output_tokens": "length", "content_filter": "content-filter"}


def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Stream one answer; see `agents.llm.stream`."""
    model = request.model
    headers = session_headers(request)
    if model.api_key:
        headers["authorization"] = f"Bearer {model.api_key}"
    body = openai_body.encode(build(request))
    decoder = ResponsesDecoder(errors.secrets_of(model))
    answer = post_events(model, "/responses", headers | dict(model.headers), body)
    return decoded(model, decoder, answer)


class ResponsesDecoder:
    """Events of a response in, typed events out. Items are told apart by their place in the output."""

    __slots__ = (
        "_complete",
        "_open",
        "_reason",
        "_refused",
        "_secrets",
        "_sources",
        "_thinking",
        "done",
        "usage",
    )

    def __init__(self, secrets: list[str]) -> None:
        self.done = False
        self._secrets = secrets
        self._open: dict[int, tuple[str, str]] = {}
        """Call id and name of the calls by their place."""
        self._complete: list[ToolCall] = []
        self._reason: Any = "stop"
        self._refused = False
        self._sources: list[Any] = []
        self._thinking = False
        self.usage = Usage()

    def feed(self, event: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """What one event says. Raises ModelError when it reports an error."""
        kind, place = event.get("type", ""), event.get("output_index", 0)
        item = event.get("item") or {}
        if kind in _TEXT:
            self._refused |= kind == _REFUSAL
            yield TextDelta(words_of(event.get("delta")))
        elif kind in _REASONING:
            self._thinking = True
            yield ReasoningDelta(words_of(event.get("delta")))
        elif kind == "response.reasoning_summary_part.added" and self._thinking:
            yield ReasoningDelta("\n\n")
        elif kind == "response.output_item.added" and item.get("type") == "function_call":
            yield from self._begun(place, item)
        elif kind == "response.output_item.added" and server_tools.hosted(item):
            self._open[place] = calls.make_id(), server_tools.name_of(item)
            yield ToolInputStart(*self._open[place])
        elif kind == "response.output_text.annotation.added":
            self._sources.append(event.get("annotation"))
        elif kind == "response.function_call_arguments.delta" and place in self._open:
            yield ToolInputDelta(self._open[place][0], words_of(event.get("delta")))
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
        if server_tools.links(self._sources):
            yield server_tools.sources(calls.make_id(), self._sources)
        yield from calls.cut_off(self._complete, self.usage) if self._reason == "length" else self._complete
        if self._refused:
            self._reason = _REASONS["content_filter"]
        yield Finish("tool-calls" if self._complete else self._reason, self.usage)

    def _begun(self, place: int, item: Mapping[str, Any]) -> Iterator[ModelEvent]:
        used = {call_id for call_id, _ in self._open.values()}
        self._open[place] = calls.unused(item.get("call_id") or "", used), item.get("name") or ""
        yield ToolInputStart(*self._open[place])

    def _ended(self, place: int, item: Mapping[str, Any]) -> Iterator[ModelEvent]:
        if item.get("type") == "reasoning":
            yield from self._thought(item.get("encrypted_content"))
        elif item.get("type") == "function_call":
            if place not in self._open:
                yield from self._begun(place, item)
            self._complete.append(calls.complete(*self._open[place], item.get("arguments") or ""))
        elif server_tools.hosted(item):
            call_id = self._open[place][0] if place in self._open else calls.make_id()
            yield server_tools.of_openai(item, call_id)

    def _thought(self, sealed: str | None) -> Iterator[ModelEvent]:
        if sealed and not self._thinking:
            yield ReasoningDelta("")  # nothing to read, but it has to go back
        if sealed or self._thinking:
            yield ReasoningEnd({"encrypted": sealed} if sealed else {})
        self._thinking = False

    def _end(self, response: Mapping[str, Any]) -> None:
        self.done = True
        self.usage = read_usage(response.get("usage") or {})
        if reason := (response.get("incomplete_details") or {}).get("reason"):
            self._reason = _REASONS.get(reason, "unknown")


def read_usage(raw: Mapping[str, Any]) -> Usage:
    """Token counts with the cached and the reasoning tokens taken out of the sums they are part of."""
    return Usage.of_sums(
        raw.get("input_tokens") or 0,
        raw.get("output_tokens") or 0,
        raw.get("total_tokens") or 0,
        cached=(raw.get("input_tokens_details") or {}).get("cached_tokens") or 0,
        reasoning=(raw.get("output_tokens_details") or {}).get("reasoning_tokens") or 0,
    )


# A ModelRequest as the body of a responses request (OpenAI API reference, "Responses").

Json = dict[str, Any]

_CONTROLS = ("temperature", "top_p")
"""What the interface takes beside the limit, and from models that do not reason."""
_OTHER_PROTOCOLS = frozenset(
    {"effort", "think_tags", "thinking", "thinking_config", "prediction", "logit_bias", "logprobs"}
)
_PLACES = {
    "reasoning_effort": ("reasoning", "effort"),
    "reasoning_summary": ("reasoning", "summary"),
    "text_verbosity": ("text", "verbosity"),
}
_ENCRYPTED = "reasoning.encrypted_content"


def build(request: ModelRequest) -> Json:
    """The whole body. Nothing is stored at the provider, so its reasoning comes back sealed. Compatibility
    fields come last and win; None takes a name out."""
    model = request.model
    body: Json = {
        "model": model.api_model,
        "instructions": "\n\n".join(filter(None, request.system)),
        "input": [item for message in request.messages for item in _kept(message, model)],
        "stream": True,
        "store": False,
        **_controls(model, request.settings.controls),
    }
    if _reasons(model):
        body |= {"include": [_ENCRYPTED], "reasoning": _reasoning(model)}
    if request.session:
        body["prompt_cache_key"] = request.session
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": False,
            }
            for tool in request.tools
        ]
        if request.tool_choice == "required":
            body["tool_choice"] = "required"
    return with_fields(body, _options(request.settings.options, body), request.settings.body)


def _reasons(model: Model) -> bool:
    return model.reasoning or families.reasons(model.api_model)


def _reasoning(model: Model) -> Json:
    """A summary, and the effort that a family would not come to by itself where it has that level."""
    named = "medium" in model.variants or (not model.variants and "-pro" not in model.api_model)
    return {"summary": "auto"} | ({"effort": "medium"} if named and families.reasons(model.api_model) else {})


def _controls(model: Model, controls: Controls) -> Json:
    limit = {"max_output_tokens": output_limit(model, controls)}
    if _reasons(model):
        return limit
    return limit | {name: value for name, value in controls.said().items() if name in _CONTROLS}


def _options(options: Mapping[str, Any], body: Json) -> Json:
    """Model Request Options under the names, and in the objects, of this interface."""
    out: Json = {}
    for name, value in options.items():
        if name in _OTHER_PROTOCOLS:
            continue
        if place := _PLACES.get(name):
            group, field = place
            out[group] = {**body.get(group, {}), **out.get(group, {}), field: value}
        else:
            out[name] = value
    return out


def _kept(message: ChatMessage, model: Model) -> list[Json]:
    return message.once(
        ("responses", model.attachment), lambda own: [openai_body.Kept(item) for item in _items(own, model)]
    )


def _items(message: ChatMessage, model: Model) -> Iterator[Json]:
    if message.role == "assistant":
        yield from _said(message)
    elif message.role == "tool":
        for item in message.content:
            if isinstance(item, ToolResultContent):
                yield {
                    "type": "function_call_output",
                    "call_id": item.call_id,
                    "output": _output(item, model),
                }
    else:
        role = "developer" if message.role == "system" else "user"
        parts = [
            _part(item, model) for item in message.content if isinstance(item, TextContent | FileContent)
        ]
        yield {"type": "message", "role": role, "content": parts}


def _said(message: ChatMessage) -> Iterator[Json]:
    """Reasoning goes back only where the provider sealed it, and in its place."""
    for item in message.content:
        match item:
            case TextContent(text) if text:
                content = [{"type": "output_text", "text": text}]
                yield {"type": "message", "role": "assistant", "content": content}
            case ReasoningContent(text, {"encrypted": sealed}):
                summary = [{"type": "summary_text", "text": text}] if text else []
                yield {"type": "reasoning", "summary": summary, "encrypted_content": sealed}
            case ProviderCallContent(items=items):
                yield from (dict(found) for found in items if server_tools.hosted(found))
            case ToolCallContent(call_id, name, given):
                arguments = json.dumps(dict(given), ensure_ascii=False)
                yield {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def _output(item: ToolResultContent, model: Model) -> str | list[Json]:
    if not item.attachments:
        return item.output
    files = [_part(attachment, model) for attachment in item.attachments]
    return [{"type": "input_text", "text": item.output}, *files]


def _part(item: TextContent | FileContent, model: Model) -> Json:
    if isinstance(item, TextContent):
        return {"type": "input_text", "text": item.text}
    if not model.attachment:
        text = f"[{item.filename or item.mime} left out: this model takes no files]"
        return {"type": "input_text", "text": text}
    url = f"data:{item.mime};base64,{item.data}"
    if item.mime.startswith("image/"):
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    return {"type": "input_file", "filename": item.filename or "file", "file_data": url}

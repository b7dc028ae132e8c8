"""Direct reader of the Anthropic messages stream (docs/decisions/0005-direct-readers.md says why)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any

from agents.llm import errors
from agents.llm.readers import server_tools
from agents.llm.readers.calls import complete, cut_off, unused
from agents.llm.readers.decoding import decoded
from agents.llm.readers.openai_body import Kept, encode, output_limit, thinking_block, with_fields
from agents.llm.readers.openai_chat import words_of
from agents.llm.readers.told import wrapped
from agents.llm.readers.transport import post_events, session_headers
from agents.llm.settings.domains import Controls, Settings
from agents.llm.types import (
    ChatMessage,
    Content,
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

VERSION = "2023-06-01"
_INTERLEAVED = "interleaved-thinking-2025-05-14"


def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Stream one answer; see `agents.llm.stream`."""
    model = request.model
    body = encode(build(request))
    decoder = MessageDecoder(errors.secrets_of(model))
    answer = post_events(model, "/messages", _headers(request), body)
    return decoded(model, decoder, answer)


def _headers(request: ModelRequest) -> dict[str, str]:
    model = request.model
    headers = {"anthropic-version": VERSION, **session_headers(request)}
    if model.api_key:
        headers["x-api-key"] = model.api_key
    if thinking_of(request.settings):
        headers["anthropic-beta"] = _INTERLEAVED
    for name, value in model.headers.items():
        lowered = name.lower()
        joins = lowered == "anthropic-beta" and lowered in headers
        headers[lowered] = f"{headers[lowered]},{value}" if joins else value
    return headers


class MessageDecoder:
    """Events of a message stream in, typed events out. A block is open between its start and its stop."""

    __slots__ = ("_block", "_calls", "_counts", "_reason", "_secrets", "_text", "_used", "done")

    def __init__(self, secrets: list[str]) -> None:
        self.done = False
        self._secrets = secrets
        self._block: dict[str, Any] = {}
        self._text: list[str] = []
        self._calls: list[ToolCall] = []
        self._used: dict[str, dict[str, Any]] = {}
        """Calls that the provider makes itself, until their results come."""
        self._reason = ""
        self._counts: dict[str, int] = {}

    @property
    def usage(self) -> Usage:
        return Usage(
            input=self._counts.get("input_tokens", 0),
            output=self._counts.get("output_tokens", 0),
            cache_read=self._counts.get("cache_read_input_tokens", 0),
            cache_write=self._counts.get("cache_creation_input_tokens", 0),
        )

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
                self.done = True
            case "error":
                raise errors.from_event(event.get("error") or dict(event), secrets=self._secrets)

    def finish(self) -> Iterator[ModelEvent]:
        """What is due at the end. Raises ModelError when the stream was cut before its end."""
        if not (self.done or self._reason):
            raise ModelError("The answer was cut before its end.", retryable=True)
        reason, usage = _REASONS.get(self._reason, "unknown"), self.usage
        yield from cut_off(self._calls, usage) if reason == "length" else self._calls
        yield Finish("tool-calls" if self._calls else reason, usage)

    def _start(self, block: dict[str, Any]) -> Iterator[ModelEvent]:
        self._block, self._text = block, []
        if block.get("type") == "tool_use":
            block["id"] = unused(block.get("id") or "", {call.call_id for call in self._calls})
        match block.get("type"):
            case "text" if text := words_of(block.get("text")):
                yield TextDelta(text)
            case "thinking" if text := words_of(block.get("thinking")):
                yield ReasoningDelta(text)
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                yield ToolInputStart(block["id"], block["name"])
            case str(kind) if kind.endswith("_tool_result"):
                if use := self._used.pop(block.get("tool_use_id", ""), None):
                    yield server_tools.of_anthropic(use, block)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        match delta.get("type"):
            case "text_delta" if text := words_of(delta["text"]):
                yield TextDelta(text)
            case "thinking_delta" if text := words_of(delta["thinking"]):
                yield ReasoningDelta(text)
            case "input_json_delta" if text := words_of(delta["partial_json"]):
                self._text.append(text)
                if str(self._block.get("type")).endswith("tool_use"):
                    yield ToolInputDelta(self._block["id"], text)
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
            case "server_tool_use" | "mcp_tool_use":
                given = self._call(block).input or {}
                self._used[block["id"]] = {**block, "input": dict(given)}

    def _call(self, block: Mapping[str, Any]) -> ToolCall:
        raw = "".join(self._text)
        if not raw and block.get("input"):
            raw = encode(block["input"]).decode()
        return complete(block["id"], block["name"], raw)

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        """They are sums so far; some gateways have a count at the start or at the end alone, and else 0."""
        for name, count in (usage or {}).items():
            if isinstance(count, int):
                self._counts[name] = max(count, self._counts.get(name, 0))


_REASONS: dict[str, Any] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "pause_turn": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}


# A ModelRequest as the body of an Anthropic messages request (API reference, "Create a message").

Json = dict[str, Any]

_CACHE_MARK = {"type": "ephemeral"}
_NAMES = {"stop": "stop_sequences"}
_SERVER_BLOCKS = ("server_tool_use", "mcp_tool_use", "_tool_result")


def build(request: ModelRequest) -> Json:
    """The whole body; four cache marks at most (two system texts, two user messages), as the API allows."""
    model, settings = request.model, request.settings
    thinking = thinking_of(settings)
    body: Json = {
        "model": model.api_model,
        "max_tokens": output_limit(model, settings.controls),
        "messages": _messages(request, bool(thinking)),
        "stream": True,
    }
    if request.system:
        body["system"] = [_marked({"type": "text", "text": text}) for text in request.system if text.strip()]
    body.update(_tools(request, bool(thinking)))
    body.update(_sampling(settings.controls, bool(thinking)))
    body.update(_encoded(settings.options, body))
    if thinking:
        _with_budget(body, thinking, model)
    return with_fields(body, settings.body)


def thinking_of(settings: Settings) -> Json | None:
    """The thinking option, None where it is off."""
    thinking = settings.options.get("thinking")
    if not isinstance(thinking, Mapping) or thinking.get("type") == "disabled":
        return None
    return dict(thinking)


def _sampling(controls: Controls, thinking: bool) -> Json:
    """Who thinks takes no say in how it samples (API reference, "Extended thinking")."""
    said = controls.said()
    names = ("stop",) if thinking else ("temperature", "top_p", "top_k", "stop")
    return {_NAMES.get(name, name): said[name] for name in names if name in said}


def _encoded(options: Mapping[str, Any], body: Json) -> Json:
    """Model Request Options as fields of this protocol; those of other protocols are left out."""
    out: Json = {}
    if effort := options.get("effort"):
        out["output_config"] = {"effort": effort}
    if tier := options.get("service_tier"):
        out["service_tier"] = tier
    if user := options.get("user"):
        out["metadata"] = {"user_id": user}
    choice = body.get("tool_choice", {"type": "auto"})
    if options.get("parallel_tool_calls") is False and "tools" in body and choice["type"] != "none":
        out["tool_choice"] = {**choice, "disable_parallel_tool_use": True}
    if options.get("thinking") and thinking_of(Settings(options=options)) is None:
        out["thinking"] = {"type": "disabled"}
    return out


def _with_budget(body: Json, thinking: Json, model: Model) -> None:
    """The output limit covers thinking too: raise it by the budget, as far as the model goes."""
    budget = thinking.get("budget_tokens")
    if budget:
        body["max_tokens"] = min(body["max_tokens"] + budget, max(model.output, 2))
        thinking["budget_tokens"] = min(budget, body["max_tokens"] - 1)
    body["thinking"] = thinking


def _tools(request: ModelRequest, thinking: bool) -> Json:
    """Who thinks cannot be made to call a tool (API reference, "Extended thinking")."""
    if request.tools:
        tools = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in request.tools
        ]
        forced = request.tool_choice == "required" and not thinking
        return {"tools": tools, **({"tool_choice": {"type": "any"}} if forced else {})}
    used = {
        item.name: None for m in request.messages for item in m.content if isinstance(item, ToolCallContent)
    }
    if not used:
        return {}
    # The API refuses a history with calls when no tools are named.
    named = [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in used]
    return {"tools": named, "tool_choice": {"type": "none"}}


def _messages(request: ModelRequest, thinking: bool) -> list[Json]:
    out: list[Json] = []
    for message in request.messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _kept(message, request.model, thinking)
        if blocks and out and out[-1]["role"] == role:
            out[-1]["content"].extend(blocks)
        elif blocks:
            out.append({"role": role, "content": [*blocks]})
    for sent in [sent for sent in out if sent["role"] == "user"][-2:]:
        sent["content"][-1] = _marked(sent["content"][-1])
    return out


def _kept(message: ChatMessage, model: Model, thinking: bool) -> list[Json]:
    key = ("messages", model.attachment, thinking)
    return message.once(key, lambda own: [Kept(block) for block in _blocks(own, model, thinking)])


def _blocks(message: ChatMessage, model: Model, thinking: bool) -> list[Json]:
    if message.role == "system":
        return [{"type": "text", "text": wrapped(message)}]
    out: list[Json] = []
    for item in message.content:
        if isinstance(item, ProviderCallContent):
            out += (dict(block) for block in item.items if str(block.get("type")).endswith(_SERVER_BLOCKS))
        elif block := _block(item, model, thinking):
            out.append(block)
    return out


def _block(item: Content, model: Model, thinking: bool) -> Json | None:
    match item:
        case TextContent(text):
            return {"type": "text", "text": text} if text.strip() else None
        case FileContent():
            return _file(item, model)
        case ReasoningContent():
            return thinking_block(item) if thinking else None
        case ToolCallContent():
            return {"type": "tool_use", "id": item.call_id, "name": item.name, "input": dict(item.input)}
        case ToolResultContent():
            return _result(item, model)
        case ProviderCallContent():
            return None


def _file(item: FileContent, model: Model) -> Json:
    if not model.attachment:
        return {"type": "text", "text": f"[{item.filename or item.mime} left out: this model takes no files]"}
    kind = "image" if item.mime.startswith("image/") else "document"
    return {"type": kind, "source": {"type": "base64", "media_type": item.mime, "data": item.data}}


def _result(item: ToolResultContent, model: Model) -> Json:
    block: Json = {
        "type": "tool_result",
        "tool_use_id": item.call_id,
        "content": _result_content(item, model),
    }
    if item.is_error:
        block["is_error"] = True
    return block


def _result_content(item: ToolResultContent, model: Model) -> str | list[Json]:
    files: Sequence[Json] = [_file(attachment, model) for attachment in item.attachments]
    if not files:
        return item.output
    return [*([{"type": "text", "text": item.output}] if item.output.strip() else []), *files]


def _marked(block: Json) -> Json:
    return {**block, "cache_control": _CACHE_MARK}

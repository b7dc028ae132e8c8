"""A ModelRequest as the body of a chat-completions request (OpenAI API reference, "Chat completions")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from agents.llm.families import reasons
from agents.llm.readers.calls import BESIDE
from agents.llm.readers.told import add_chat
from agents.llm.settings.domains import Controls
from agents.llm.types import (
    ChatMessage,
    FileContent,
    Model,
    ModelRequest,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
    ToolSpec,
)
from sessions.core import variables

_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keywords whose value names schemas; what is in it may have any name, `title` too."""
_DATA = frozenset({"const", "default", "enum", "examples", "example"})


_MOST, _DEEPEST = 20_000, 60
"""Schemas within one, and how deep: references to references grow without end. What is beyond is any
value."""


def in_place(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with each `$ref` replaced by what it names, without `$defs` and titles. One that names itself
    is any value at its second place. Nothing of it is shared: litellm rewrites schemas where they are."""
    return _Copy(schema).schema(schema, (), 0)


class _Copy:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST

    def schema(self, schema: Mapping[str, Any], within: tuple[str, ...], depth: int) -> dict[str, Any]:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            return {}
        out: dict[str, Any] = {}
        if isinstance(ref := schema.get("$ref"), str):
            named = None if ref in within else _named(ref, self._root)
            out = self.schema(named, (*within, ref), depth + 1) if isinstance(named, Mapping) else {}
        for key, value in schema.items():
            if key in ("$ref", "$defs", "definitions") or (key == "title" and isinstance(value, str)):
                continue
            if key in _NAMED and isinstance(value, Mapping):
                out[key] = {name: self._value(item, within, depth + 1) for name, item in value.items()}
            else:
                out[key] = deepcopy(value) if key in _DATA else self._value(value, within, depth + 1)
        return out

    def _value(self, value: Any, within: tuple[str, ...], depth: int) -> Any:
        if isinstance(value, Mapping):
            return self.schema(value, within, depth)
        if isinstance(value, list):
            return [self._value(item, within, depth + 1) for item in value] if depth <= _DEEPEST else []
        return value


def _named(ref: str, root: Mapping[str, Any]) -> Any:
    """What a reference into the same document names (RFC 6901), None elsewhere."""
    found: Any = root if ref.startswith("#") else None
    for step in ref.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


Json = dict[str, Any]

"""Tokens asked for when the caller names no number; more would eat the context of small models."""

_NAMES = {"text_verbosity": "verbosity"}
_OTHER_PROTOCOLS = frozenset({"effort", "include", "reasoning_summary", "think_tags", "thinking_config"})
"""Options of Anthropic's messages, of OpenAI's responses and of Gemini's own interface."""

_CACHE_MARK = {"type": "ephemeral"}

_TOP_K = frozenset({"", "openrouter", "togetherai", "fireworks-ai", "deepinfra", "perplexity", "huggingface"})
"""The makers whose servers sample by `top_k`; the others refuse a request that names it."""

_COUNTS_UNASKED = frozenset({"groq", "mistral"})
"""The makers whose interface has no `stream_options`: the end of each stream says what was used."""


def build(request: ModelRequest) -> Json:
    """The whole body. Compatibility fields come last and win; None takes a name out."""
    return with_fields(basis(request), encoded(request.settings.options), request.settings.body)


def basis(request: ModelRequest) -> Json:
    """The body without what options and compatibility fields say."""
    model = request.model
    body: Json = {
        "model": model.api_model,
        "messages": messages(request),
        "stream": True,
    }
    if model.maker not in _COUNTS_UNASKED:
        body["stream_options"] = {"include_usage": True}
    body.update(_controls(model, request.settings.controls))
    if model.maker == "mistral":
        body = _as_mistral(body)
    if request.tools:
        body["tools"] = [{"type": "function", "function": _function(tool)} for tool in request.tools]
        if request.tool_choice == "required":
            body["tool_choice"] = "required"
    return body


def _as_mistral(body: Json) -> Json:
    """Mistral refuses fields that it does not know, and ids of calls that are not nine letters and digits."""
    if (seed := body.pop("seed", None)) is not None:
        body["random_seed"] = seed
    return {**body, "messages": [_with_short_ids(message) for message in body["messages"]]}


def _with_short_ids(message: Json) -> Json:
    if "tool_call_id" in message:
        return {**message, "tool_call_id": _nine(message["tool_call_id"])}
    if "tool_calls" in message:
        calls = [{**call, "id": _nine(call["id"])} for call in message["tool_calls"]]
        return {**message, "tool_calls": calls}
    return message


def _nine(call_id: str) -> str:
    """The id if Mistral gave it, else one made of it."""
    given = len(call_id) == 9 and call_id.isascii() and call_id.isalnum()
    return call_id if given else sha256(call_id.encode()).hexdigest()[:9]


def _function(tool: ToolSpec) -> Json:
    return {"name": tool.name, "description": tool.description, "parameters": in_place(tool.parameters)}


class Kept(Json):
    """An object that goes into one request after the other as it is: nobody may change it."""

    @cached_property
    def encoded(self) -> bytes:
        return _dumped(self)


def encode(body: Json) -> bytes:
    """The body as bytes; half characters out of broken files become question marks. What of its lists is kept
    is not encoded anew."""
    return b"{%s}" % b",".join(b"%s:%s" % (_dumped(name), _field(value)) for name, value in body.items())


def _field(value: Any) -> bytes:
    return b"[%s]" % b",".join(map(_item, value)) if isinstance(value, list) else _dumped(value)


def _item(value: Any) -> bytes:
    if isinstance(value, Kept):
        return value.encoded
    # A message may be made of pieces that are kept.
    pieces = isinstance(value, dict) and isinstance(value.get("content"), list)
    return encode(value) if pieces else _dumped(value)


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _dumped(value: Any) -> bytes:
    return _JSON.encode(value).encode("utf-8", "replace")


def with_fields(body: Json, *given: Mapping[str, Any]) -> Json:
    """Merge fields into the body; None takes a name out."""
    for fields in given:
        for name, value in fields.items():
            if value is None:
                body.pop(name, None)
            else:
                body[name] = value
    return body


def output_limit(model: Model, controls: Controls) -> int:
    """Output tokens to ask for."""
    return min(controls.max_output or variables.OUTPUT_TOKENS.whole(), model.output)


def encoded(options: Mapping[str, Any]) -> Json:
    """Model Request Options as fields of chat completions; those of other protocols are left out."""
    return {_NAMES.get(name, name): value for name, value in options.items() if name not in _OTHER_PROTOCOLS}


def messages(request: ModelRequest, *, sealed: bool = False) -> list[Json]:
    """System and conversation. Files that came with tool results follow as a user message of their own.

    `sealed`: send signed reasoning back as `thinking_blocks`, which litellm hands on and no server knows.
    """
    model, out, files = request.model, list[Json](), list[Json]()
    key = ("chat", model.attachment, model.interleaved)
    if request.system:
        # One message: many chat templates refuse a second system message.
        out.append({"role": "system", "content": "\n\n".join(request.system)})
    for message in request.messages:
        role = message.role
        if files and role != "tool":
            _flush(files, out)
        if role == "system":
            add_chat(message, model, out)
            continue
        # What litellm is given it may change.
        said, came = (
            _message(message, model, sealed) if sealed else message.once(key, _message, model, sealed)
        )
        out += said
        files += came
    _flush(files, out)
    return _with_cache_marks(out) if "claude" in model.api_model else out


def thinking_block(item: ReasoningContent) -> Json | None:
    """Reasoning as Anthropic's content block; it takes back only what it signed or sealed itself."""
    if redacted := item.metadata.get("redacted"):
        return {"type": "redacted_thinking", "data": redacted}
    if signature := item.metadata.get("signature"):
        return {"type": "thinking", "thinking": item.text, "signature": signature}
    return None


def _controls(model: Model, controls: Controls) -> Json:
    said = controls.said()
    limit = output_limit(model, controls)
    said.pop("max_output", None)
    theirs = urlsplit(model.base_url).hostname == "api.openai.com"
    if reasons(model.api_model) or (model.reasoning and (theirs or model.maker == "azure")):
        return {"max_completion_tokens": limit}  # all that these models take, whoever serves them
    if theirs or (model.maker not in _TOP_K and model.protocol == "openai"):
        said.pop("top_k", None)
    return said | {"max_completion_tokens" if theirs else "max_tokens": limit}


def _message(message: ChatMessage, model: Model, sealed: bool) -> tuple[list[Json], list[Json]]:
    """A message as it is sent, and the files that came with results of tools."""
    if message.role == "tool":
        return _results(message, model)
    return [Kept(_user(message, model) if message.role == "user" else _assistant(message, model, sealed))], []


def _user(message: ChatMessage, model: Model) -> Json:
    parts = [_part(item, model) for item in message.content if isinstance(item, TextContent | FileContent)]
    if all(part["type"] == "text" for part in parts):
        return {"role": "user", "content": "\n\n".join(part["text"] for part in parts)}
    return {"role": "user", "content": parts}


def _part(item: TextContent | FileContent, model: Model) -> Json:
    if isinstance(item, TextContent):
        return {"type": "text", "text": item.text}
    if not model.attachment:
        return {"type": "text", "text": f"[{item.filename or item.mime} left out: this model takes no files]"}
    url = f"data:{item.mime};base64,{item.data}"
    if item.mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": item.filename or "file", "file_data": url}}


def _back(model: Model) -> str:
    """`reasoning_details` are a list, which no text becomes: only those that came are sent."""
    return "" if model.interleaved == "reasoning_details" else model.interleaved


def _assistant(message: ChatMessage, model: Model, sealed: bool) -> Json:
    text = "".join(item.text for item in message.content if isinstance(item, TextContent))
    out: Json = {"role": "assistant", "content": text or None}
    thoughts: list[Json] = []
    for item in message.content:
        if not isinstance(item, ReasoningContent):
            continue
        if sealed and (block := thinking_block(item)):
            out.setdefault("thinking_blocks", []).append(block)
        elif details := item.metadata.get("details"):
            out["reasoning_details"] = [*out.get("reasoning_details", ()), *details]
        # Only servers that stream reasoning under a name of their own take it back, and under that name; or
        # those of which the configuration says so.
        elif (field := item.metadata.get("field") or _back(model)) == "content":
            thoughts.append({"type": "thinking", "thinking": [{"type": "text", "text": item.text}]})
        elif field:
            out[field] = out.get(field, "") + item.text
    if thoughts and not sealed:
        out["content"] = [*thoughts, *([{"type": "text", "text": text}] if text else [])]
    if calls := [_call(item) for item in message.content if isinstance(item, ToolCallContent)]:
        out["tool_calls"] = calls
    return out


def _call(item: ToolCallContent) -> Json:
    arguments = json.dumps(dict(item.input), ensure_ascii=False)
    beside = {name: item.metadata[name] for name in BESIDE if name in item.metadata}
    function = {"name": item.name, "arguments": arguments}
    return {"id": item.call_id, "type": "function", "function": function, **beside}


def _results(message: ChatMessage, model: Model) -> tuple[list[Json], list[Json]]:
    out, files = list[Json](), list[Json]()
    for item in message.content:
        if not isinstance(item, ToolResultContent):
            continue
        out.append(Kept(role="tool", tool_call_id=item.call_id, content=item.output))
        if item.attachments:
            files.append({"type": "text", "text": f"Files from the call {item.call_id} of {item.name}:"})
            files.extend(_part(attachment, model) for attachment in item.attachments)
    return out, files


def _flush(files: list[Json], out: list[Json]) -> None:
    if files:
        out.append({"role": "user", "content": list(files)})
        files.clear()


def _with_cache_marks(out: list[Json]) -> list[Json]:
    """Claude behind a chat-completions gateway caches only what is marked: the system text and the last two
    messages that are not the model's own. Only a text takes a mark."""
    theirs = [at for at, message in enumerate(out) if at and message["role"] in ("user", "tool")]
    for at in (0, *theirs[-2:]) if out else ():
        content = out[at]["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) and content else [*content]
        last = next((place for place in reversed(range(len(parts))) if parts[place]["type"] == "text"), None)
        if last is not None:
            parts[last] = {**parts[last], "cache_control": _CACHE_MARK}
            out[at] = {**out[at], "content": parts}
    return out

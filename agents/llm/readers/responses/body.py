"""A ModelRequest as the body of a responses request (OpenAI API reference, "Responses")."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agents.llm.readers.openai_body import output_limit, with_fields
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
)

Json = dict[str, Any]

_CONTROLS = ("temperature", "top_p")
"""What the interface takes beside the limit, and from models that do not reason."""
_OTHER_PROTOCOLS = frozenset(
    {"effort", "thinking", "thinking_config", "prediction", "logit_bias", "logprobs"}
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
        "input": [item for message in request.messages for item in _items(message, model)],
        "stream": True,
        "store": False,
        **_controls(model, request.settings.controls),
    }
    if model.reasoning:
        body |= {"include": [_ENCRYPTED], "reasoning": {"summary": "auto"}}
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


def _controls(model: Model, controls: Controls) -> Json:
    limit = {"max_output_tokens": output_limit(model, controls)}
    if model.reasoning:
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
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "filename": item.filename or "file", "file_data": url}

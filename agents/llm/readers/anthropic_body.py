"""A ModelRequest as the body of an Anthropic messages request (API reference, "Create a message")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.llm.readers.openai_body import output_limit, thinking_block, with_fields
from agents.llm.readers.told import wrapped
from agents.llm.settings.domains import Controls, Settings
from agents.llm.types import (
    ChatMessage,
    Content,
    FileContent,
    Model,
    ModelRequest,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)

Json = dict[str, Any]

_CACHE_MARK = {"type": "ephemeral"}
_NAMES = {"stop": "stop_sequences"}


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
        blocks = _blocks(message, request.model, thinking)
        if blocks and out and out[-1]["role"] == role:
            out[-1]["content"].extend(blocks)
        elif blocks:
            out.append({"role": role, "content": blocks})
    for sent in [sent for sent in out if sent["role"] == "user"][-2:]:
        _marked(sent["content"][-1])
    return out


def _blocks(message: ChatMessage, model: Model, thinking: bool) -> list[Json]:
    if message.role == "system":
        return [{"type": "text", "text": wrapped(message)}]
    found = (_block(item, model, thinking) for item in message.content)
    return [block for block in found if block]


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
    block["cache_control"] = _CACHE_MARK
    return block

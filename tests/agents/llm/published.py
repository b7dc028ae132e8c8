"""Print the JSON schemas of requests that makers publish with their own packages: `{maker: schema}`.

A program of its own: it runs where these packages are installed.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter, create_model

REQUESTS = {
    "responses": "openai.types.responses.response_create_params:ResponseCreateParamsStreaming",
    "openai": "openai.types.chat.completion_create_params:CompletionCreateParamsStreaming",
    "anthropic": "anthropic.types.message_create_params:MessageCreateParamsStreaming",
    "groq": "groq.types.chat.completion_create_params:CompletionCreateParams",
    "mistral": "mistralai.client.models:ChatCompletionStreamRequest",
    "openrouter": "openrouter.components:ChatRequest",
}


def schema(kind: Any) -> dict[str, Any]:
    return TypeAdapter(kind).json_schema(by_alias=True)


def published(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def gemini() -> dict[str, Any]:
    """Its package has no type of the whole, but types of all that it is made of."""
    types: Any = import_module("google.genai.types")
    many: Any = list
    fields: dict[str, Any] = {
        "contents": (many[types.Content], ...),
        "systemInstruction": (types.Content, None),
        "generationConfig": (types.GenerationConfig, None),
        "tools": (many[types.Tool], None),
        "toolConfig": (types.ToolConfig, None),
    }
    return schema(create_model("Request", **fields))


def xai() -> dict[str, Any]:
    """Its package has Protocol Buffers, whose fields are named as those of the interface by JSON."""
    chat: Any = import_module("xai_sdk.proto").chat_pb2
    message: dict[str, Any] = {"properties": {field.name: {} for field in chat.Message.DESCRIPTOR.fields}}
    fields: dict[str, Any] = {field.name: {} for field in chat.GetCompletionsRequest.DESCRIPTOR.fields}
    streaming = {"stream": {"const": True}, "stream_options": {}}
    return {"properties": {**fields, **streaming, "messages": {"type": "array", "items": message}}}


if __name__ == "__main__":
    common = {maker: schema(published(path)) for maker, path in REQUESTS.items()}
    json.dump({**common, "google": gemini(), "xai": xai()}, sys.stdout)

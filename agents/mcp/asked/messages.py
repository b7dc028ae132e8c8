"""The messages that a server puts to the model, as ours. Loaded with the SDK, whose types they are."""

from __future__ import annotations

from typing import Any

from mcp import types

from agents.llm.types import ChatMessage, FileContent, TextContent
from agents.mcp.asked.sampling import Asked, Refused
from agents.mcp.offered.texts import clean, content_of, is_for_models


def asked(params: types.CreateMessageRequestParams) -> Asked:
    """Raises Refused for what no model here can be asked."""
    messages = [
        ChatMessage(message.role, [_content(block) for block in _blocks(message.content)])
        for message in params.messages
    ]
    system = clean(params.system_prompt or "")
    texts = [_shown(one) for message in messages for one in message.content]
    shown = "\n\n".join([system, *texts]).strip()
    return Asked(
        system=system,
        messages=messages,
        max_output=params.max_tokens,
        temperature=params.temperature,
        stop=params.stop_sequences or (),
        text=shown,
        size=len(shown),
    )


def _shown(content: Any) -> str:
    return content.text if isinstance(content, TextContent) else f"(A picture, {content.mime})"


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _content(block: Any) -> TextContent | FileContent:
    if isinstance(block, types.TextContent):
        return TextContent(clean(block.text))
    if not isinstance(block, types.ImageContent):
        raise Refused("Only texts and pictures can be put to the model.")
    try:
        content = content_of(block.data, block.mime_type)
    except ValueError as error:
        raise Refused(f"A picture is not taken: {error}.") from error
    if not is_for_models(content.mime):
        raise Refused(f"The model takes no {content.mime}.")
    return FileContent(content.mime, content.url.partition(",")[2])

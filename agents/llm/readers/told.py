"""A Mid-Conversation System Message on the wire: natively where a provider has such a role,
otherwise in a marked text where a user would speak."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from agents.llm.types import ChatMessage, Model, TextContent

Json = dict[str, Any]


def wrapped(message: ChatMessage) -> str:
    """The text for a provider that knows no system role in the middle."""
    return (
        "<context-update>\nThe program that runs this session says this, not the user:\n\n"
        f"{_text(message)}\n</context-update>"
    )


def add_chat(message: ChatMessage, model: Model, out: list[Json]) -> None:
    """Append to the messages of a chat-completions request. It joins a user message before it, as many chat
    templates refuse two in a row."""
    if urlsplit(model.base_url).hostname == "api.openai.com":
        out.append({"role": "developer" if model.reasoning else "system", "content": _text(message)})
    elif not out or out[-1]["role"] != "user":
        out.append({"role": "user", "content": wrapped(message)})
    else:
        said, told = out[-1]["content"], wrapped(message)
        both = f"{said}\n\n{told}" if isinstance(said, str) else [*said, {"type": "text", "text": told}]
        out[-1] = {**out[-1], "content": both}


def _text(message: ChatMessage) -> str:
    return "\n\n".join(item.text for item in message.content if isinstance(item, TextContent))

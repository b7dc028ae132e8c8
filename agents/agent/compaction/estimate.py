"""How many tokens a text will be, as far as that can be told without the model's own tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.config.schema import CompactionConfig
from agents.llm.readers.openai_body import output_limit
from agents.llm.settings.domains import Controls
from agents.llm.types import (
    ChatMessage,
    Content,
    FileContent,
    Model,
    ModelRequest,
    ProviderCallContent,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)

BYTES_PER_TOKEN = 4
"""Of UTF-8, which is near enough for prose, code and scripts that have a token for each character."""
FILE_TOKENS = 1_500
"""A picture or a PDF, whatever its size in bytes."""


def tokens(size: int) -> int:
    """Tokens of so many bytes."""
    return -(-size // BYTES_PER_TOKEN)


def size(text: str) -> int:
    """Bytes of a text, at no cost for plain ASCII."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def filling(request: ModelRequest) -> dict[str, int]:
    """What a request fills the window with, in tokens by kind."""
    system, *surroundings = request.system
    said, outputs = _messages(request.messages)
    return {
        "system": tokens(size(system)),
        "instructions": tokens(sum(map(size, surroundings))),
        "tools": tokens(
            sum(size(tool.name) + size(tool.description) + _deep(tool.parameters) for tool in request.tools)
        ),
        "messages": tokens(said),
        "outputs": tokens(outputs),
    }


def messages_tokens(messages: Iterable[ChatMessage]) -> int:
    return tokens(sum(_messages(messages)))


def _messages(messages: Iterable[ChatMessage]) -> tuple[int, int]:
    """Bytes of what was said, and of what tools gave back."""
    said = outputs = 0
    for message in messages:
        own, given = message.once("size", _sizes)
        said += own
        outputs += given
    return said, outputs


def _sizes(message: ChatMessage) -> tuple[int, int]:
    said = outputs = 0
    for content in message.content:
        if isinstance(content, ToolResultContent):
            outputs += size(content.output) + len(content.attachments) * FILE_TOKENS * BYTES_PER_TOKEN
        else:
            said += _said(content)
    return said, outputs


def _said(content: Content) -> int:
    match content:
        case TextContent(text) | ReasoningContent(text):
            return size(text)
        case ToolCallContent():
            return size(content.name) + _deep(content.input)
        case ProviderCallContent():
            return _deep(content.items)
        case FileContent():
            return FILE_TOKENS * BYTES_PER_TOKEN
    return 0


def _deep(value: Any) -> int:
    """Bytes of a JSON value, about."""
    if isinstance(value, str):
        return size(value) + 3
    if isinstance(value, Mapping):
        return sum(len(str(key)) + 4 + _deep(item) for key, item in value.items())
    if isinstance(value, Sequence):
        return sum(_deep(item) + 1 for item in value)
    return 5


BUFFER = 20_000
"""Tokens kept free in a window that is counted for the input alone."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens: the whole window, and what of it is kept free for the answer."""

    window: int
    reserved: int

    @property
    def usable(self) -> int:
        return self.window - self.reserved

    def limits(self) -> dict[str, int]:
        """As they are kept with the session."""
        return {"window": self.window, "reserved": self.reserved}

    def words(self) -> str:
        return (
            f"{self.usable:,} tokens are usable, the window's {self.window:,} less {self.reserved:,} "
            "that are kept free for the answer"
        )


def budget(model: Model, config: CompactionConfig) -> Budget:
    """The reserve is the configured one, else what the model may answer. A small window keeps three quarters
    of itself, whatever the answer may be, and half of itself whatever was configured."""
    window = model.input or model.context
    answer = output_limit(model, Controls())
    if config.reserved is not None:
        return Budget(window, min(config.reserved, window // 2))
    return Budget(window, min(BUFFER if model.input else answer, answer, window // 4))

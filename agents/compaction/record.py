"""The conversation as a text to be summed up, cut to a size (seed 004 §4.2).

One text rather than messages: it goes to any model whoever held the conversation, no provider asks for the
tools that it speaks of, and what is in it is plainly no instruction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agents.compaction.entries import Entry
from agents.compaction.estimate import size
from agents.llm.types import (
    ChatMessage,
    Content,
    FileContent,
    Model,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from agents.runtime.steps.history import request_messages

SHORT_OUTPUT = 600
"""Bytes that are left of a tool's output when room is needed."""
LEFT_OUT = "(The beginning of the conversation is left out here: it was too long.)"
_WHO = {"user": "Person", "assistant": "Agent", "tool": "Tool", "system": "Surroundings"}


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of the record; `is_output` is what a tool gave back."""

    who: str
    text: str
    is_output: bool = False

    @property
    def size(self) -> int:
        return size(self.text) + len(self.who) + 8

    def __str__(self) -> str:
        return f"[{self.who}]\n{self.text}"


def blocks(entries: Sequence[Entry], model: Model) -> list[Block]:
    """The record of projected entries."""
    return [block for message in request_messages(entries, model) for block in _of(message)]


def text_of(found: Sequence[Block], most: int) -> str:
    """The record in at most about so many bytes: old outputs are shortened first, then old blocks go. The
    first block stays while it can, as it holds what was wanted or the summary before."""
    kept = _without_old_outputs(found, most)
    if whole_size(kept) <= most:
        return _joined(kept)
    room = most
    chosen: list[Block] = []
    first = _cut(kept[0], most // 3) if kept else None
    room -= first.size if first else 0
    for block in reversed(kept[1:]):
        if block.size > room:
            if not chosen:  # the last words matter most
                chosen.append(_cut(block, room))
            break
        room -= block.size
        chosen.append(block)
    gap = [Block("Note", LEFT_OUT)] if len(chosen) < len(kept) - 1 else []
    return _joined([*([first] if first else []), *gap, *reversed(chosen)])


def whole_size(found: Sequence[Block]) -> int:
    return sum(block.size for block in found)


def _joined(found: Sequence[Block]) -> str:
    return "\n\n".join(map(str, found))


def _without_old_outputs(found: Sequence[Block], most: int) -> list[Block]:
    """The oldest outputs shortened, no more of them than it takes."""
    kept, excess = list(found), whole_size(found) - most
    for at, block in enumerate(found):
        if excess <= 0:
            break
        if block.is_output and block.size > SHORT_OUTPUT:
            kept[at] = _cut(block, SHORT_OUTPUT)
            excess -= block.size - kept[at].size
    return kept


def _cut(block: Block, most: int) -> Block:
    """Its head and its tail; a text that is hardly longer than these stays as it is."""
    half = max(most // 2 - 30, 40)
    data = block.text.encode("utf-8", "replace")
    if block.size <= most or len(data) <= 2 * half:
        return block
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return replace(block, text=f"{head}\n[... {len(data) - 2 * half} bytes left out ...]\n{tail}")


def _of(message: ChatMessage) -> Iterator[Block]:
    for content in message.content:
        text = _text(content)
        if text:
            yield Block(_WHO[message.role], text, isinstance(content, ToolResultContent))


def _text(content: Content) -> str:
    match content:
        case TextContent(text):
            return text
        case ToolCallContent():
            return f"calls {content.name} with {json.dumps(dict(content.input), ensure_ascii=False)}"
        case ToolResultContent():
            return f"{content.name} {'failed' if content.is_error else 'gave'}:\n{content.output}"
        case FileContent():
            return f"(attached: {content.filename or content.mime})"
    return ""

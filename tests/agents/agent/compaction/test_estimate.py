"""What fills a request."""

from __future__ import annotations

from agents.agent.compaction.estimate import filling, size
from agents.llm.types import (
    ChatMessage,
    FileContent,
    ModelRequest,
    TextContent,
    ToolCallContent,
    ToolResultContent,
    ToolSpec,
)
from tests.agents.agent.compaction.history import MODEL


def test_each_kind_counts_for_itself() -> None:
    request = ModelRequest(
        MODEL,
        system=["s" * 400, "i" * 800],
        messages=[
            ChatMessage("user", [TextContent("m" * 1_200), FileContent("image/png", "A" * 900_000)]),
            ChatMessage("assistant", [ToolCallContent("1", "read", {"path": "p" * 400})]),
            ChatMessage("tool", [ToolResultContent("1", "read", "o" * 2_000)]),
        ],
        tools=[ToolSpec("read", "d" * 396, {"type": "object"})],
    )
    found = filling(request)
    assert found["system"] == 100
    assert found["instructions"] == 200
    assert 100 < found["tools"] < 115
    assert 300 + 1_500 + 100 < found["messages"] < 300 + 1_500 + 115
    assert found["outputs"] == 500


def test_scripts_with_long_letters_count_by_their_bytes() -> None:
    assert (size("abcd"), size("日本"), size("\ud800")) == (4, 6, 1)

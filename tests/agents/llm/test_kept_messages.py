"""Messages that one request after the other begins with: what is kept of them, each request has as it would
without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agents.llm.readers import anthropic_messages, openai_body, openai_responses
from agents.llm.types import (
    ChatMessage,
    Content,
    FileContent,
    ModelRequest,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from tests.agents.llm.asking import model

PICTURE = FileContent("image/png", "aGk=", "a.png")
SIGNED = ReasoningContent("Hm.", {"signature": "s", "encrypted": "e", "field": "reasoning"})


def conversation() -> list[ChatMessage]:
    """Made anew each time, so that nothing of it is kept."""
    said: list[tuple[Any, list[Content]]] = [
        ("user", [TextContent("Look."), PICTURE]),
        ("system", [TextContent("It is late.")]),
        ("assistant", [SIGNED, TextContent("Now.\ud83d"), ToolCallContent("call_1", "read", {"path": "a"})]),
        ("tool", [ToolResultContent("call_1", "read", "é", attachments=[PICTURE])]),
        ("system", [TextContent("It is later.")]),
        ("assistant", [ToolCallContent("call_2", "bash", {}), ToolCallContent("call_3", "bash", {"x": [1]})]),
        ("tool", [ToolResultContent("call_2", "bash", ""), ToolResultContent("call_3", "bash", "no", True)]),
        ("user", [TextContent("Go on.")]),
        ("system", [TextContent("It is morning.")]),
        ("assistant", [TextContent("Done.")]),
        ("user", [TextContent("Thanks.")]),
    ]
    return [ChatMessage(role, content) for role, content in said]


BUILDERS: dict[str, tuple[Callable[[ModelRequest], dict[str, Any]], dict[str, Any]]] = {
    "chat": (openai_body.build, {}),
    "chat, no files": (openai_body.build, {"attachment": False}),
    "chat, mistral": (openai_body.build, {"maker": "mistral"}),
    "chat, claude": (openai_body.build, {"api_model": "claude-x"}),
    "chat, for litellm": (lambda asked: {"messages": openai_body.messages(asked, sealed=True)}, {}),
    "responses": (openai_responses.build, {"protocol": "responses"}),
    "messages": (anthropic_messages.build, {"protocol": "anthropic"}),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_each_request_is_what_it_would_be_without_the_others(name: str) -> None:
    build, given = BUILDERS[name]
    asked = model("http://localhost/v1", **{"attachment": True, "protocol": "openai", **given})
    kept = conversation()

    def body(messages: Sequence[ChatMessage]) -> bytes:
        return openai_body.encode(build(ModelRequest(asked, ["First.", "Second."], messages)))

    for end in (*range(1, len(kept) + 1), 3, 7, len(kept)):
        assert body(kept[:end]) == body(conversation()[:end]), end


def test_one_conversation_goes_to_models_of_each_kind() -> None:
    kept = conversation()
    for _ in range(2):
        for build, given in BUILDERS.values():
            asked = model("http://localhost/v1", **{"attachment": True, "protocol": "openai", **given})
            bodies = [
                openai_body.encode(build(ModelRequest(asked, ["One."], messages)))
                for messages in (kept, conversation())
            ]
            assert bodies[0] == bodies[1]

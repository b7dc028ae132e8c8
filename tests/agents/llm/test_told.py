"""System messages in the middle of a conversation, as each protocol is told of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents.llm.readers import anthropic_messages, openai_body
from agents.llm.types import (
    ChatMessage,
    FileContent,
    Model,
    ModelRequest,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)

MODEL = Model("fake", "one", "One", "openai", "one", base_url="http://127.0.0.1/v1", attachment=True)
OPENAI = replace(MODEL, base_url="https://api.openai.com/v1")
NEWS = ChatMessage("system", [TextContent("News.")])
ASKED = ChatMessage("user", [TextContent("Do it.")])
CALL = ChatMessage("assistant", [ToolCallContent("call_1", "read", {})])
RESULT = ChatMessage("tool", [ToolResultContent("call_1", "read", "text")])


def chat(*messages: ChatMessage, model: Model = MODEL) -> list[dict[str, Any]]:
    return openai_body.messages(ModelRequest(model, [], messages))


def claude(*messages: ChatMessage) -> list[dict[str, Any]]:
    body = anthropic_messages.build(ModelRequest(MODEL, [], messages))
    sent: list[dict[str, Any]] = body["messages"]
    return sent


def test_openai_itself_has_a_role_for_it() -> None:
    assert chat(ASKED, NEWS, model=OPENAI)[1] == {"role": "system", "content": "News."}
    reasoning = replace(OPENAI, reasoning=True)
    assert chat(CALL, RESULT, NEWS, model=reasoning)[-1] == {"role": "developer", "content": "News."}


def test_elsewhere_it_is_marked_and_joins_the_prompt_before_it() -> None:
    (sent,) = chat(ASKED, NEWS)
    assert sent["role"] == "user"
    assert sent["content"].startswith("Do it.\n\n<context-update>")
    assert sent["content"].endswith("News.\n</context-update>")
    image = FileContent("image/png", "eA==")
    (sent,) = chat(ChatMessage("user", [image, TextContent("Look.")]), NEWS)
    assert [part["type"] for part in sent["content"]] == ["image_url", "text", "text"]


def test_it_follows_tool_results_and_what_came_with_them() -> None:
    sent = chat(CALL, RESULT, NEWS)
    assert [message["role"] for message in sent] == ["assistant", "tool", "user"]
    shown = ToolResultContent("call_1", "read", "text", attachments=[FileContent("image/png", "eA==")])
    sent = chat(CALL, ChatMessage("tool", [shown]), NEWS)
    assert [message["role"] for message in sent] == ["assistant", "tool", "user"]
    assert "News." in sent[2]["content"][-1]["text"]


def test_anthropic_gets_it_after_the_results_in_one_message() -> None:
    sent = claude(ASKED, CALL, RESULT, NEWS)
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [block["type"] for block in sent[2]["content"]] == ["tool_result", "text"]
    assert "News." in sent[2]["content"][1]["text"]

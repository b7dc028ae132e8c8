"""The reader of OpenAI's responses, and what goes to the server."""

from __future__ import annotations

from typing import Any

import pytest

from agents.llm import stream
from agents.llm.readers.responses import reader
from agents.llm.readers.responses.body import build
from agents.llm.types import (
    AuthFailed,
    ChatMessage,
    ContextOverflow,
    FileContent,
    Finish,
    ModelError,
    ModelRequest,
    ReasoningContent,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
    ToolCall,
    ToolCallContent,
    ToolInputDelta,
    ToolInputStart,
    ToolResultContent,
    Usage,
)
from tests.agents.llm.asking import READ, events, joined, model, request, user
from tests.loopback.responses import ResponsesServer
from tests.loopback.script import Cut, HttpError, StreamError, TokenUsage, ToolUse, Turn


async def test_an_answer_is_read_in_its_order() -> None:
    turn = Turn(
        reasoning=["Let ", "me see"],
        signature="sealed",
        text=["Grü", "ße"],
        tools=[ToolUse("read", {"filePath": "a.py"}, "call_a"), ToolUse("list", "{oops", "call_b")],
        usage=TokenUsage(input=100, output=7, reasoning=3, cache_read=40),
    )
    async with ResponsesServer([turn]) as server:
        asked = request(model(server.base_url, "responses", api_key="k", reasoning=True))
        found = joined(await events(reader.read, asked))
        sent = server.requests[0]

    raw = '{"filePath": "a.py"}'
    assert found == [
        ReasoningDelta("Let me see"),
        ReasoningEnd({"encrypted": "sealed"}),
        TextDelta("Grüße"),
        ToolInputStart("call_a", "read"),
        ToolInputDelta("call_a", raw),
        ToolInputStart("call_b", "list"),
        ToolInputDelta("call_b", "{oops"),
        ToolCall("call_a", "read", {"filePath": "a.py"}, raw),
        ToolCall("call_b", "list", None, "{oops"),
        Finish("tool-calls", Usage(input=100, output=7, reasoning=3, cache_read=40)),
    ]
    assert sent.headers["authorization"] == "Bearer k"
    assert sent.body["store"] is False


def test_sealed_reasoning_without_words_comes_back_apart_from_the_text() -> None:
    decoder = reader.ResponsesDecoder([])
    sealed = {"type": "reasoning", "encrypted_content": "x"}
    given: list[dict[str, Any]] = [
        {"type": "response.output_text.delta", "delta": "First."},
        {"type": "response.output_item.done", "item": sealed},
        {"type": "response.output_item.done", "item": {"type": "reasoning"}},
        {"type": "response.something_new", "item": None},
    ]
    assert [event for item in given for event in decoder.feed(item)] == [
        TextDelta("First."),
        ReasoningDelta(""),
        ReasoningEnd({"encrypted": "x"}),
    ]


@pytest.mark.parametrize(
    ("turn", "kind", "said"),
    [
        (Turn(fault=HttpError(401, "bad token")), AuthFailed, "bad token"),
        (Turn(text="a", fault=StreamError(1, "overloaded")), ModelError, "overloaded"),
        (Turn(text="a", fault=StreamError(1, "context_length_exceeded")), ContextOverflow, "context"),
        (Turn(text=["a", "b"], fault=Cut(1)), ModelError, "broke|cut"),
    ],
)
async def test_what_goes_wrong_is_told(turn: Turn, kind: type[ModelError], said: str) -> None:
    async with ResponsesServer([turn]) as server:
        with pytest.raises(kind, match=said):
            await events(reader.read, request(model(server.base_url, "responses")))


@pytest.mark.parametrize("finish", ["stop", "length", "content-filter"])
async def test_the_reason_of_the_end(finish: Any) -> None:
    async with ResponsesServer([Turn(text="x", finish=finish)]) as server:
        last = (await events(reader.read, request(model(server.base_url, "responses"))))[-1]
    assert isinstance(last, Finish)
    assert last.reason == finish


def test_the_conversation_as_items() -> None:
    image, text = FileContent("image/png", "AAAA"), FileContent("application/pdf", "BBBB", "a.pdf")
    asked = request(
        model(attachment=True, reasoning=True, output=500),
        user("Look", image, text),
        ChatMessage(
            "assistant",
            [
                ReasoningContent("Thought", {"encrypted": "x"}),
                ReasoningContent("Other's", {"signature": "y"}),
                TextContent("Yes"),
                ToolCallContent("call_a", "read", {"filePath": "ä"}),
            ],
        ),
        ChatMessage("tool", [ToolResultContent("call_a", "read", "out", attachments=[image])]),
        ChatMessage("system", [TextContent("It is late.")]),
        tools=[READ],
        reasoningEffort="low",
        textVerbosity="low",
        thinking={"type": "enabled"},
        temperature=0.3,
    )
    body = build(asked)
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    pdf = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,BBBB"}
    assert body["input"] == [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Look"}, picture, pdf],
        },
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Thought"}],
            "encrypted_content": "x",
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes"}]},
        {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": '{"filePath": "ä"}'},
        {
            "type": "function_call_output",
            "call_id": "call_a",
            "output": [{"type": "input_text", "text": "out"}, picture],
        },
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "It is late."}]},
    ]
    assert body["instructions"] == "Be brief."
    assert body["reasoning"] == {"summary": "auto", "effort": "low"}
    assert body["text"] == {"verbosity": "low"}
    assert body["max_output_tokens"] == 500
    assert body["tools"][0]["name"] == "read"
    assert not {"thinking", "temperature", "reasoning_effort"} & body.keys()


class Refusing:
    """An account whose first token is not taken."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    async def authorized(self, request: ModelRequest, refused: str = "") -> ModelRequest:
        self.refused.append(refused)
        object.__setattr__(request.model, "api_key", "new" if refused else "old")
        return request


@pytest.mark.parametrize("answers", [1, 2])
async def test_a_refused_token_is_asked_for_once_more(answers: int) -> None:
    account = Refusing()
    turns = [Turn(fault=HttpError(401, "expired"))] * answers
    async with ResponsesServer([*turns, Turn(text="Hello")]) as server:
        asked = request(model(server.base_url, "responses", account=account))
        if answers == 2:
            with pytest.raises(AuthFailed, match="expired"):
                await events(stream, asked)
        else:
            assert TextDelta("Hello") in await events(stream, asked)
        assert [item.headers["authorization"] for item in server.requests] == ["Bearer old", "Bearer new"]
    assert account.refused == ["", "old"]

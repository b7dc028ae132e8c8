"""The reader of OpenAI's responses, and what goes to the server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.llm import stream
from agents.llm.readers import openai_responses
from agents.llm.readers.openai_responses import build
from agents.llm.types import (
    AuthFailed,
    ChatMessage,
    ContextOverflow,
    FileContent,
    Finish,
    ModelError,
    ModelRequest,
    ProviderCall,
    ProviderCallContent,
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

DONE = "response.output_item.done"


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
        found = joined(await events(openai_responses.read, asked))
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
    decoder = openai_responses.ResponsesDecoder([])
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
            await events(openai_responses.read, request(model(server.base_url, "responses")))


@pytest.mark.parametrize("finish", ["stop", "length", "content-filter"])
async def test_the_reason_of_the_end(finish: Any) -> None:
    async with ResponsesServer([Turn(text="x", finish=finish)]) as server:
        last = (await events(openai_responses.read, request(model(server.base_url, "responses"))))[-1]
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
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}
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


def test_a_reasoning_family_is_asked_to_think_and_its_session_is_named() -> None:
    body = build(replace(request(model(api_model="gpt-5.3-codex", output=900)), session="ses_1"))
    assert body["reasoning"] == {"summary": "auto", "effort": "medium"}
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["prompt_cache_key"] == "ses_1"
    assert build(request(model(api_model="gpt-5-pro")))["reasoning"] == {"summary": "auto"}
    plain = build(request(model(api_model="gpt-4.1"), temperature=0.2))
    assert not {"reasoning", "include", "prompt_cache_key"} & plain.keys()
    assert plain["temperature"] == 0.2


HOSTED: list[tuple[dict[str, Any], str, dict[str, Any], str]] = [
    (
        {"type": "code_interpreter_call", "code": "1", "outputs": [{"type": "logs", "logs": "one"}]},
        "code_interpreter",
        {"code": "1"},
        "one",
    ),
    ({"type": "code_interpreter_call", "code": "1", "outputs": None}, "code_interpreter", {"code": "1"}, ""),
    (
        {"type": "file_search_call", "queries": ["q"], "results": [{"filename": "a", "text": "b"}]},
        "file_search",
        {"queries": ["q"]},
        "a\nb",
    ),
    ({"type": "mcp_call", "name": "roll", "arguments": '{"d": 4}', "output": "3"}, "roll", {"d": 4}, "3"),
    (
        {"type": "mcp_list_tools", "server_label": "dice", "tools": [{"name": "roll"}]},
        "mcp_list_tools",
        {"server": "dice"},
        "roll",
    ),
]


@pytest.mark.parametrize(("item", "name", "given", "output"), HOSTED)
def test_what_openai_ran_itself(item: dict[str, Any], name: str, given: dict[str, Any], output: str) -> None:
    decoder = openai_responses.ResponsesDecoder([])
    begun = {"type": "response.output_item.added", "output_index": 1, "item": item}
    ended = {"type": "response.output_item.done", "output_index": 1, "item": item}
    start, call = [event for one in (begun, ended) for event in decoder.feed(one)]
    assert isinstance(start, ToolInputStart)
    assert call == ProviderCall(start.call_id, name, given, output, items=(item,))
    said = ChatMessage("assistant", [ProviderCallContent(name, output, call.items)])
    assert build(request(model(), said))["input"] == [item]


def test_a_picture_is_shown_and_a_failure_told() -> None:
    decoder = openai_responses.ResponsesDecoder([])
    picture = {"type": "image_generation_call", "result": "AAAA", "output_format": "webp"}
    failed = {"type": "mcp_call", "name": "roll", "arguments": "{", "error": {"code": 5}}
    drawn, rolled = [
        event for item in (picture, failed) for event in decoder.feed({"type": DONE, "item": item})
    ]
    assert isinstance(drawn, ProviderCall)
    assert (drawn.attachments, drawn.items) == ((FileContent("image/webp", "AAAA"),), ())
    assert isinstance(rolled, ProviderCall)
    assert rolled.error == '{"code": 5}'


def test_citations_are_one_list_of_sources() -> None:
    decoder = openai_responses.ResponsesDecoder([])
    cited = {"type": "url_citation", "url": "https://a.example/", "title": "A"}
    for annotation in (cited, cited, {"type": "file_citation", "filename": "x"}):
        list(decoder.feed({"type": "response.output_text.annotation.added", "annotation": annotation}))
    list(decoder.feed({"type": "response.completed", "response": {}}))
    call, _ = decoder.finish()
    assert isinstance(call, ProviderCall)
    assert (call.name, call.output, call.items) == ("web_search", "A: https://a.example/", ())


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


def test_a_refusal_is_shown_and_told() -> None:
    decoder = openai_responses.ResponsesDecoder([])
    said = list(decoder.feed({"type": "response.refusal.delta", "delta": "I will not."}))
    list(decoder.feed({"type": "response.completed", "response": {}}))
    assert said == [TextDelta("I will not.")]
    assert list(decoder.finish()) == [Finish("content-filter", Usage())]

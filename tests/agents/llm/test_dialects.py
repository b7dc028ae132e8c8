"""Chat completions as makers extend them: where thoughts, sources, pictures and counts stand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agents.llm import stream
from agents.llm.readers.openai_body import build
from agents.llm.types import (
    ChatMessage,
    FileContent,
    Finish,
    ModelError,
    ModelEvent,
    ProviderCall,
    ReasoningContent,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
    ToolCallContent,
    ToolResultContent,
    Usage,
)
from tests.agents.llm.asking import events, joined, model, request
from tests.agents.llm.replay import replaying, sse

DONE = "[DONE]"
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def delta(**given: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": given, "finish_reason": None}]}


async def read(*chunks: Any, end: Any = END, **options: Any) -> list[ModelEvent]:
    async with replaying(sse(*chunks, end, DONE)) as server:
        return joined(await events(stream, request(model(server.base_url, **options))))[:-1]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking", "reasoning_text"])
async def test_thoughts_under_every_name_go_back_under_it(field: str) -> None:
    given = await read(delta(**{field: "Hm"}), delta(**{field: "."}), delta(content="Yes."))
    assert given == [ReasoningDelta("Hm."), ReasoningEnd({"field": field}), TextDelta("Yes.")]
    said = ChatMessage("assistant", [ReasoningContent("Hm.", {"field": field}), TextContent("Yes.")])
    assert build(request(model(), said))["messages"][-1][field] == "Hm."


async def test_mistrals_pieces() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    text = {"type": "text", "text": "Yes."}
    given = await read(delta(content=[thought]), delta(content=[text, {"type": "unheard_of"}]))
    assert given == [ReasoningDelta("Hm."), ReasoningEnd({"field": "content"}), TextDelta("Yes.")]
    said = ChatMessage("assistant", [ReasoningContent("Hm.", {"field": "content"}), TextContent("Yes.")])
    assert build(request(model(), said))["messages"][-1]["content"] == [thought, text]


async def test_openrouters_details_go_back_as_they_came() -> None:
    text = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    sealed = {"type": "reasoning.encrypted", "index": 1, "data": "x"}
    given = await read(
        delta(reasoning="Hm", reasoning_details=[{**text, "text": "Hm"}]),
        delta(reasoning=".", reasoning_details=[{**text, "text": "."}]),
        delta(reasoning_details=[{**text, "text": "", "signature": "s"}]),
        delta(reasoning_details=[sealed]),
        delta(content="Yes."),
    )
    details = [{**text, "text": "Hm.", "signature": "s"}, sealed]
    end = ReasoningEnd({"field": "reasoning", "details": details})
    assert given == [ReasoningDelta("Hm."), end, TextDelta("Yes.")]
    said = ChatMessage("assistant", [ReasoningContent("Hm.", end.metadata), TextContent("Yes.")])
    sent = build(request(model(), said))["messages"][-1]
    assert sent["reasoning_details"] == details
    assert "reasoning" not in sent


async def test_groqs_usage() -> None:
    counted = {**END, "x_groq": {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}}
    async with replaying(sse(delta(content="a"), counted, DONE)) as server:
        found = await events(stream, request(model(server.base_url)))
    assert found[-1] == Finish("stop", Usage(5, 2))


THOUGHT = [ReasoningDelta("Hm."), ReasoningEnd(), TextDelta("Yes <b>.")]


@pytest.mark.parametrize("size", [1, 3, 100])
async def test_thoughts_in_tags(size: int) -> None:
    text = "\n<think>\nHm.</think>\n\nYes <b>."
    pieces = [delta(content=text[at : at + size]) for at in range(0, len(text), size)]
    assert await read(*pieces, api_model="qwen3") == THOUGHT
    assert await read(*pieces, api_model="gpt-4.1", options={"thinkTags": True}) == THOUGHT
    assert await read(*pieces, api_model="gpt-4.1") == [TextDelta(text)]
    assert await read(*pieces, api_model="qwen3", options={"thinkTags": False}) == [TextDelta(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<thin", [TextDelta("<thin")]),
        ("<table> and <think>", [TextDelta("<table> and <think>")]),
        ("<think>Hm</thi", [ReasoningDelta("Hm</thi"), ReasoningEnd()]),
    ],
)
async def test_what_is_no_tag_and_one_that_is_not_closed(text: str, found: list[ModelEvent]) -> None:
    assert await read(delta(content=text)) == found
    assert await read(*(delta(content=letter) for letter in text)) == found


@pytest.mark.parametrize(
    "chunk",
    [
        {**delta(content="Yes."), "citations": ["https://a.example/"]},
        {**delta(content="Yes."), "search_results": [{"url": "https://a.example/"}]},
        delta(content="Yes.", annotations=[{"url_citation": {"url": "https://a.example/"}}]),
        delta(content=[{"type": "text", "text": "Yes."}, {"type": "reference", "url": "https://a.example/"}]),
    ],
)
async def test_sources_are_shown_as_a_search(chunk: Any) -> None:
    text, call = await read(chunk)
    assert text == TextDelta("Yes.")
    assert isinstance(call, ProviderCall)
    assert (call.name, call.output, call.items) == ("web_search", "https://a.example/", ())


async def test_a_picture() -> None:
    url = "data:image/png;base64,AAAA"
    (call,) = await read(delta(images=[{"type": "image_url", "image_url": {"url": url}}]))
    assert isinstance(call, ProviderCall)
    assert call.attachments == (FileContent("image/png", "AAAA"),)


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": "none"},
        {"choices": [None]},
        {"choices": [{"delta": "text"}]},
        delta(tool_calls=[7]),
        delta(content={"a": 1}),
        {"usage": "much"},
        {"x_groq": 5},
    ],
)
async def test_a_chunk_of_a_shape_nobody_knows_is_skipped(odd: Any) -> None:
    assert await read(delta(content="a"), odd, delta(content="b")) == [TextDelta("ab")]


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("model_length", "length"),
        ("SAFETY", "content-filter"),
        ("sensitive", "content-filter"),
        ("eos_token", "stop"),
    ],
)
async def test_ends_by_their_makers_names(told: str, meant: str) -> None:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": told}]}
    async with replaying(sse(delta(content="a"), end, DONE)) as server:
        last = (await events(stream, request(model(server.base_url))))[-1]
    assert isinstance(last, Finish)
    assert last.reason == meant


async def test_a_refusal_is_shown_and_told() -> None:
    async with replaying(sse(delta(refusal="No."), END, DONE)) as server:
        text, last = await events(stream, request(model(server.base_url)))
    assert (text, last) == (TextDelta("No."), Finish("content-filter", Usage()))


@pytest.mark.parametrize("told", ["error", "insufficient_system_resource", "network_error"])
async def test_what_the_provider_broke_off_is_tried_again(told: str) -> None:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": told}]}
    with pytest.raises(ModelError, match=told) as raised:
        await read(delta(content="a"), end=end)
    assert raised.value.retryable


async def test_mistral_is_sent_nothing_that_it_refuses() -> None:
    asked = [
        ChatMessage("assistant", [ToolCallContent("call_0123456789", "read", {})]),
        ChatMessage("tool", [ToolResultContent("call_0123456789", "read", "ok")]),
        ChatMessage("assistant", [ToolCallContent("aB3dE6gH9", "read", {})]),
        ChatMessage("tool", [ToolResultContent("aB3dE6gH9", "read", "ok")]),
    ]
    sent = build(request(model(maker="mistral"), *asked, seed=7, top_k=20))
    assert not {"stream_options", "seed", "top_k"} & set(sent)
    assert sent["random_seed"] == 7
    first, told, second, _ = sent["messages"][1:]
    made = first["tool_calls"][0]["id"]
    assert re.fullmatch(r"[a-zA-Z0-9]{9}", made)
    assert told["tool_call_id"] == made
    assert second["tool_calls"][0]["id"] == "aB3dE6gH9"


@pytest.mark.parametrize(("maker", "asks"), [("groq", False), ("mistral", False), ("xai", True), ("", True)])
def test_counts_are_asked_for_where_they_do_not_come_by_themselves(maker: str, asks: bool) -> None:
    assert ("stream_options" in build(request(model(maker=maker)))) is asks


def test_a_cache_mark_is_at_a_text() -> None:
    pictured = ChatMessage("user", [TextContent("Look."), FileContent("image/png", "iVBORw0KGgo=", "a.png")])
    asked = model(maker="openrouter", api_model="anthropic/claude-sonnet-4.5", attachment=True)
    text, picture = build(request(asked, pictured))["messages"][-1]["content"]
    assert (text["cache_control"], "cache_control" in picture) == ({"type": "ephemeral"}, False)


@pytest.mark.parametrize(
    ("maker", "takes"), [("groq", False), ("xai", False), ("openrouter", True), ("", True)]
)
def test_top_k_goes_where_it_is_taken(maker: str, takes: bool) -> None:
    assert ("top_k" in build(request(model(maker=maker), top_k=20))) is takes

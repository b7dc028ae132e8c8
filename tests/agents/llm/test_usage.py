"""What each provider's counts mean: cached tokens within the input or beside it, thinking likewise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agents.llm.readers import openai_chat, openai_responses
from agents.llm.readers.anthropic_messages import MessageDecoder
from agents.llm.types import Price, Usage

Counts = Mapping[str, Any]


def anthropic(start: Counts, end: Counts) -> Usage:
    decoder = MessageDecoder([])
    list(decoder.feed({"type": "message_start", "message": {"usage": start}}))
    list(decoder.feed({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": end}))
    return decoder.usage


CHAT: dict[str, tuple[Counts, Usage]] = {
    "OpenAI: both within": (
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 100, "audio_tokens": 0},
        },
        Usage(86, 200, 100, 1920),
    ),
    "OpenRouter: writes within too": (
        {
            "prompt_tokens": 194,
            "completion_tokens": 2,
            "total_tokens": 196,
            "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 50},
            "completion_tokens_details": {"reasoning_tokens": 0},
            "cost": 0.95,
        },
        Usage(44, 2, 0, 100, 50),
    ),
    "DeepSeek: hits within": (
        {
            "prompt_tokens": 1000,
            "completion_tokens": 40,
            "total_tokens": 1040,
            "prompt_cache_hit_tokens": 900,
            "prompt_cache_miss_tokens": 100,
            "completion_tokens_details": {"reasoning_tokens": 30},
        },
        Usage(100, 10, 30, 900),
    ),
    "Moonshot: a count of its own": (
        {"prompt_tokens": 19, "completion_tokens": 21, "total_tokens": 40, "cached_tokens": 10},
        Usage(9, 21, 0, 10),
    ),
    "Alibaba: writes among the details": (
        {
            "prompt_tokens": 3000,
            "completion_tokens": 5,
            "total_tokens": 3005,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_creation_input_tokens": 2000},
        },
        Usage(1000, 5, 0, 0, 2000),
    ),
    "xAI: reasoning beside": (
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "total_tokens": 135,
            "prompt_tokens_details": {"cached_tokens": 6},
            "completion_tokens_details": {"reasoning_tokens": 94},
        },
        Usage(26, 9, 94, 6),
    ),
    "Google: thoughts in the total alone": (
        {"prompt_tokens": 8, "completion_tokens": 20, "total_tokens": 228},
        Usage(8, 20, 200),
    ),
    "Google: and what was cached within": (
        {
            "prompt_tokens": 5000,
            "completion_tokens": 20,
            "total_tokens": 5220,
            "prompt_tokens_details": {"cached_tokens": 4000},
        },
        Usage(1000, 20, 200, 4000),
    ),
    "Anthropic by a gateway: the cache beside": (
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 105,
            "cache_read_input_tokens": 70,
            "cache_creation_input_tokens": 20,
        },
        Usage(10, 5, 0, 70, 20),
    ),
    "no total, more cached than asked": (
        {"prompt_tokens": 10, "completion_tokens": 5, "cache_read_input_tokens": 70},
        Usage(10, 5, 0, 70),
    ),
    "nothing counted": ({"prompt_tokens": None}, Usage()),
}
RESPONSES: dict[str, tuple[Counts, Usage]] = {
    "OpenAI: both within": (
        {
            "input_tokens": 328,
            "input_tokens_details": {"cached_tokens": 300},
            "output_tokens": 52,
            "output_tokens_details": {"reasoning_tokens": 40},
            "total_tokens": 380,
        },
        Usage(28, 12, 40, 300),
    ),
    "reasoning beside": (
        {
            "input_tokens": 10,
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 40},
            "total_tokens": 55,
        },
        Usage(10, 5, 40),
    ),
}
START = {"input_tokens": 10, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20}
MESSAGES: dict[str, tuple[Counts, Counts, Usage]] = {
    "Anthropic: the cache beside": (
        {**START, "output_tokens": 1, "cache_creation": {"ephemeral_5m_input_tokens": 20}},
        {"output_tokens": 42},
        Usage(10, 42, 0, 70, 20),
    ),
    "all of it again at the end": (START, {**START, "output_tokens": 42}, Usage(10, 42, 0, 70, 20)),
    "counted at the end alone": (
        {"input_tokens": 0, "output_tokens": 0},
        {**START, "output_tokens": 42},
        Usage(10, 42, 0, 70, 20),
    ),
    "nothing but the output at the end": (
        START,
        {"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 42},
        Usage(10, 42, 0, 70, 20),
    ),
}


@pytest.mark.parametrize(
    ("read", "raw", "counted"),
    [
        *(pytest.param(openai_chat.read_usage, *row, id=f"chat, {name}") for name, row in CHAT.items()),
        *(pytest.param(openai_responses.read_usage, *row, id=name) for name, row in RESPONSES.items()),
    ],
)
def test_counts_of_openai_s_shape(read: Callable[[Counts], Usage], raw: Counts, counted: Usage) -> None:
    assert read(raw) == counted


@pytest.mark.parametrize(
    ("start", "end", "counted"), [pytest.param(*row, id=name) for name, row in MESSAGES.items()]
)
def test_counts_of_anthropic_s_shape(start: Counts, end: Counts, counted: Usage) -> None:
    assert anthropic(start, end) == counted


def test_each_count_has_its_price() -> None:
    price = Price(input=3, output=15, cache_read=0.3, cache_write=3.75)
    usage = Usage(input=1_000, output=100, reasoning=100, cache_read=10_000, cache_write=2_000)
    assert usage.cost(price) == pytest.approx(0.003 + 0.003 + 0.003 + 0.0075)

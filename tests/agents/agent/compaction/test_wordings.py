"""Every provider's words for "too long" ask for a compaction, and no other refusal does."""

from __future__ import annotations

import json

import pytest

from agents.llm.errors import from_event, from_response
from agents.llm.readers.litellm_reader import from_exception
from agents.llm.types import ContextOverflow
from tests.agents.agent.compaction.history import MODEL

TOO_LONG = [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
    "Input is too long for requested model.",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "Please reduce the length of the messages or completion.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "the request exceeds the available context size, try increasing it",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "prompt token count of 128003 exceeds the limit of 128000",
    "prompt too long; exceeded max context length by 12 tokens",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Your request exceeded model token limit: 262144",
    "context window exceeds limit",
]
OTHERWISE = [
    (400, "max_tokens: must be at least 1"),
    (400, "Invalid value for temperature"),
    (429, "Rate limit reached: too many tokens per minute, the maximum context length is not the problem"),
    (401, "prompt is too long"),
    (503, "The model is overloaded"),
]


@pytest.mark.parametrize("words", TOO_LONG)
def test_too_long(words: str) -> None:
    openai = json.dumps({"error": {"message": words, "type": "invalid_request_error", "code": None}})
    anthropic = json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": words}})
    for error in (
        from_response(400, {}, openai),
        from_response(400, {}, anthropic),
        from_response(500, {}, words),
        from_event({"message": words}),
        from_exception(ValueError(f"litellm.BadRequestError: OpenAIException - {words}"), MODEL),
    ):
        assert isinstance(error, ContextOverflow)
        assert not error.retryable


@pytest.mark.parametrize(("status", "words"), OTHERWISE)
def test_otherwise(status: int, words: str) -> None:
    assert not isinstance(
        from_response(status, {}, json.dumps({"error": {"message": words}})), ContextOverflow
    )

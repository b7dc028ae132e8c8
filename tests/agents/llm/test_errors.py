"""What providers say when they fail, by the words they use."""

from __future__ import annotations

import json

import pytest

from agents.llm import errors
from agents.llm.types import AuthFailed, ContextOverflow, ModelError

OVERFLOWS = {
    "OpenAI": {"error": {"message": "maximum context length is 128000", "code": "context_length_exceeded"}},
    "OpenAI, responses": {"error": {"message": "Your input exceeds the context window of this model."}},
    "Anthropic": {"error": {"type": "invalid_request_error", "message": "prompt is too long: 3 > 2 maximum"}},
    "Gemini": [
        {"error": {"message": "The input token count (11) exceeds the maximum number of tokens (10)."}}
    ],
    "llama.cpp": {"error": {"message": "the request exceeds the available context size. try increasing it"}},
    "Ollama": {"error": "input length exceeds the context length"},
    "vLLM": {"object": "error", "message": "This model's maximum context length is 8192 tokens. However, …"},
    "Groq": {"error": {"message": "Please reduce the length of the messages or completion."}},
    "Mistral": {"message": "Prompt contains 4 tokens, too large for model with 3 maximum context length"},
    "Bedrock": {"message": "Input is too long for requested model."},
    "LM Studio": {"error": "The context length is only 4096 tokens"},
    "OpenRouter": {
        "error": {"message": "Provider returned error", "metadata": {"raw": "prompt is too long"}}
    },
}


@pytest.mark.parametrize("provider", OVERFLOWS)
def test_overflow(provider: str) -> None:
    error = errors.from_response(400, {}, json.dumps(OVERFLOWS[provider]))
    assert isinstance(error, ContextOverflow)
    assert not error.retryable


@pytest.mark.parametrize(
    ("status", "headers", "body", "retryable"),
    [
        (408, {}, "", True),
        (409, {}, "", True),
        (429, {}, '{"error": {"message": "maximum context length tokens per minute"}}', True),
        (500, {}, "", True),
        (529, {}, "", True),
        (400, {}, '{"error": {"message": "Overloaded"}}', True),
        (400, {}, '{"error": {"message": "max_tokens must be positive"}}', False),
        (404, {}, '{"error": {"message": "no such model"}}', False),
        (429, {}, '{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}', False),
        (
            429,
            {},
            '{"error": {"message": "Check your plan and billing details. Please retry in 27.3s."}}',
            True,
        ),
        (429, {}, '{"error": {"type": "billing_error", "message": "rate limit"}}', False),
        (
            429,
            {},
            '{"error": {"message": "x", "details": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}}',
            False,
        ),
        (502, {}, "<h1>Bad gateway</h1> Payment required? See <a>billing</a>", True),
        (500, {"X-Should-Retry": "false"}, "", False),
        (400, {"x-should-retry": "true"}, "", True),
    ],
)
def test_what_may_be_tried_again(status: int, headers: dict[str, str], body: str, retryable: bool) -> None:
    error = errors.from_response(status, headers, body)
    assert type(error) is ModelError
    assert (error.status, error.retryable) == (status, retryable)


def test_a_body_too_large_is_overflow() -> None:
    assert isinstance(errors.from_response(413, {}, ""), ContextOverflow)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key(status: int) -> None:
    error = errors.from_response(status, {}, "")
    assert isinstance(error, AuthFailed)
    assert str(status) in error.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": {"message": "said"}}', "said"),
        ('{"error": "said"}', "said"),
        ('{"detail": [{"msg": "said"}]}', "said"),
        ('{"message": "said"}', "said"),
        ("<html><head><title>x</title></head><body><h1>Bad</h1> gateway</body></html>", "Bad gateway"),
        ("", "The provider answered 502 Bad Gateway."),
        ("{}", "The provider answered 502 Bad Gateway."),
    ],
)
def test_the_words_for_people(body: str, words: str) -> None:
    assert errors.from_response(502, {}, body).message == words


def test_keys_are_never_shown() -> None:
    body = '{"error": {"message": "bad: mine-abc and sk-proj-0123456789abcdef and Bearer t0k3n"}}'
    error = errors.from_response(400, {}, body, secrets=["mine-abc", ""])
    assert error.message == "bad: *** and *** and Bearer ***"
    assert "0123456789" not in error.body
    assert "mine-abc" not in error.body

"""Azure through litellm: what a deployment is asked, whatever it is called."""

from __future__ import annotations

from typing import Any

import pytest

from agents.llm import stream
from agents.llm.types import Finish, TextDelta, Usage
from tests.agents.llm.asking import events, joined, model, request
from tests.agents.llm.replay import replaying, sse

pytestmark = pytest.mark.litellm

COUNTED = {
    "prompt_tokens": 5,
    "completion_tokens": 3,
    "total_tokens": 8,
    "completion_tokens_details": {"reasoning_tokens": 2},
}


def chunk(*choices: dict[str, Any], **given: Any) -> dict[str, Any]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
    return {**head, "choices": list(choices), **given}


ANSWER = (
    chunk(prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}]),
    chunk({"index": 0, "delta": {"role": "assistant", "content": "Yes."}, "finish_reason": None}),
    chunk({"index": 0, "delta": {}, "finish_reason": "stop"}),
    chunk(usage=COUNTED),
    "[DONE]",
)


@pytest.mark.parametrize(
    ("deployment", "reasoning", "limit", "effort"),
    [
        ("gpt-5", True, "max_completion_tokens", "low"),
        ("our-thinker", True, "max_completion_tokens", "low"),
        ("our-talker", False, "max_tokens", None),
    ],
)
async def test_a_deployment_that_reasons(
    monkeypatch: pytest.MonkeyPatch, deployment: str, reasoning: bool, limit: str, effort: str | None
) -> None:
    monkeypatch.setenv("AZURE_API_VERSION", "2025-04-01-preview")
    options = {"reasoningEffort": "low"} if reasoning else {}
    async with replaying(sse(*ANSWER)) as server:
        known: dict[str, Any] = {
            "api_model": f"azure/{deployment}",
            "api_key": "k",
            "maker": "azure",
            "options": options,
        }
        url = server.base_url.removesuffix("/v1")
        asked = model(url, "litellm", reasoning=reasoning, **known)
        given = joined(await events(stream, request(asked)))
    assert given == [TextDelta("Yes."), Finish("stop", Usage(5, 1, 2))]
    limits = {"max_tokens", "max_completion_tokens"} & server.sent.keys()
    assert (limits, server.sent.get("reasoning_effort")) == ({limit}, effort)

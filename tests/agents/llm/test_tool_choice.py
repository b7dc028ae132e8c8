"""A request that wants a tool called says so in each protocol, unless the model may not be made to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents.llm.readers import anthropic_messages, openai_body
from agents.llm.readers import openai_responses as responses_body
from tests.agents.llm.asking import model, request


def choice(build: Any, **given: Any) -> Any:
    asked = request(model("http://127.0.0.1:9/v1"), **given)
    assert "tool_choice" not in build(replace(asked, options={}))
    return build(replace(asked, tool_choice="required")).get("tool_choice")


def test_a_tool_has_to_be_called() -> None:
    assert choice(openai_body.build) == "required"
    assert choice(responses_body.build) == "required"
    assert choice(anthropic_messages.build) == {"type": "any"}


def test_one_tool_at_a_time() -> None:
    one = choice(anthropic_messages.build, parallel_tool_calls=False)
    assert one == {"type": "any", "disable_parallel_tool_use": True}


def test_who_thinks_is_free_not_to() -> None:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    assert choice(anthropic_messages.build, thinking=thinking) is None

"""What a provider gave beside a call is kept with its row, and goes back to the model that made it."""

from __future__ import annotations

from typing import Any

import pytest

from agents.agent.steps.history import request_messages
from agents.llm.types import ToolCallContent
from tests.agents.llm.asking import model

SIGNED = {"provider_specific_fields": {"thought_signature": "U0lH"}}


@pytest.mark.parametrize(("model_id", "sent"), [("m", SIGNED), ("another", {})])
def test_a_signature_is_for_the_model_that_gave_it(model_id: str, sent: dict[str, Any]) -> None:
    state = {"status": "completed", "input": {}, "output": "ok", "time": {"start": 1, "end": 2}}
    part = {"type": "tool", "callID": "c", "tool": "read", "state": state, "metadata": SIGNED}
    info = {"role": "assistant", "providerID": "fake", "modelID": model_id}
    said, _ = request_messages([{"info": info, "parts": [part]}], model())
    (call,) = said.content
    assert isinstance(call, ToolCallContent)
    assert call.metadata == sent

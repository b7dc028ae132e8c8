"""What of a call goes to a model: what its provider gave beside it goes back to that model alone, and the
files of its result to those that can read them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.agent.steps.history import request_messages
from agents.llm.types import ToolCallContent, ToolResultContent
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


PICTURE = {"mime": "image/png", "url": "data:image/png;base64,AAAA", "filename": "a.png"}
SOUND = {"mime": "audio/wav", "url": "data:audio/wav;base64,AAAA"}


@pytest.mark.parametrize("reads", [True, False])
def test_a_picture_that_a_model_cannot_see_is_named(reads: bool) -> None:
    state = {"status": "completed", "input": {}, "output": "here", "time": {"start": 1, "end": 2}}
    part = {"type": "tool", "callID": "c", "tool": "x", "state": {**state, "attachments": [PICTURE, SOUND]}}
    info = {"role": "assistant", "providerID": "fake", "modelID": "m"}
    _, told = request_messages([{"info": info, "parts": [part]}], replace(model(), attachment=reads))
    (result,) = told.content
    assert isinstance(result, ToolResultContent)
    assert [file.mime for file in result.attachments] == (["image/png"] if reads else [])
    named = "\n\n[The tool gave a file a.png (image/png), but this model cannot read such files.]"
    assert result.output == ("here" if reads else f"here{named}")

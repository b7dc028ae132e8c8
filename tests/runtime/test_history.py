"""Files in a history: models are sent those that providers take, whatever a tool or a client attached."""

from __future__ import annotations

from typing import Any

from agents.llm.types import FileContent, Model, TextContent, ToolResultContent
from agents.runtime.steps.history import request_messages

MODEL = Model("fake", "one", "One", "openai", "one", attachment=True)
FILES = [("image/png", "a.png"), ("audio/wav", "a.wav"), ("application/zip", "a.zip")]


def file(mime: str, name: str) -> dict[str, Any]:
    return {"type": "file", "mime": mime, "url": f"data:{mime};base64,AAAA", "filename": name}


def test_a_prompts_files() -> None:
    row = {"info": {"role": "user"}, "parts": [file(*one) for one in FILES]}
    (message,) = request_messages([row], MODEL)
    image, *others = message.content
    assert isinstance(image, FileContent)
    assert all(isinstance(one, TextContent) for one in others)
    assert "a.wav (audio/wav)" in str(others[0])


def test_a_tools_files() -> None:
    state: dict[str, Any] = {"status": "completed", "output": "so", "input": {}, "time": {}}
    part = {"type": "tool", "tool": "t", "callID": "c", "state": state}
    state["attachments"] = [file(*one) for one in FILES]
    info = {"role": "assistant", "providerID": "fake", "modelID": "one"}
    _, message = request_messages([{"info": info, "parts": [part]}], MODEL)
    (result,) = message.content
    assert isinstance(result, ToolResultContent)
    assert [one.mime for one in result.attachments] == ["image/png"]

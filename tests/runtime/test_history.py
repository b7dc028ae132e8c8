"""Files in a history: models are sent those that providers take, whatever a tool or a client attached."""

from __future__ import annotations

from typing import Any

from agents.agent.steps.history import request_messages
from agents.llm.types import FileContent, Model, TextContent, ToolResultContent

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


def answer(text: str, message: str = "") -> dict[str, Any]:
    info: dict[str, Any] = {"role": "assistant", "providerID": "fake", "modelID": "one"}
    error = {"error": {"name": "MessageAbortedError", "data": {"message": message}}} if message else {}
    return {"info": info | error, "parts": [{"type": "text", "text": text}]}


def said(rows: list[dict[str, Any]], *, answered: bool = True) -> list[tuple[str, str]]:
    """Who says what; a note to the model is `cut off`."""
    found: list[tuple[str, str]] = []
    for message in request_messages(rows, MODEL, answered=answered):
        (content,) = message.content
        assert isinstance(content, TextContent)
        found.append((message.role, "cut off" if "cut off here" in content.text else content.text))
    return found


def test_the_model_is_told_where_its_answer_was_cut_off() -> None:
    prompt = {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Go."}]}
    told = {"info": {"role": "system"}, "parts": [{"type": "text", "text": "News."}]}
    asked, cut, note = ("user", "Go."), ("assistant", "On"), ("user", "cut off")
    rows = [prompt, answer("On", "The server ended.")]
    assert said(rows) == [asked, cut, note]
    assert said([*rows, told]) == [asked, cut, note, ("system", "News.")]
    assert said([*rows, told, answer("e")]) == [asked, cut, note, ("system", "News."), ("assistant", "e")]
    assert said([prompt, answer("", "The server ended.")]) == [asked], (
        "nothing was said, nothing to go on from"
    )
    assert said([*rows, prompt]) == [asked, cut, asked], "the next prompt says what comes next"
    assert said(rows, answered=False) == [asked, cut]

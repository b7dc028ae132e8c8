"""What an assistant message is made of: text, reasoning and tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from sessions.core.wire.base import Wire
from sessions.core.wire.v2.base import ErrorUnknown
from sessions.core.wire.v2.prompts import FileAttachment

Part = Mapping[str, Any]


class Lasting(Wire):
    """Milliseconds since the epoch."""

    created: int
    completed: int | None = None


class AssistantText(Wire):
    type: Literal["text"] = "text"
    id: str
    text: str


class AssistantReasoning(Wire):
    type: Literal["reasoning"] = "reasoning"
    id: str
    text: str
    time: Lasting | None = None


class ToolText(Wire):
    type: Literal["text"] = "text"
    text: str


class ToolFile(Wire):
    type: Literal["file"] = "file"
    uri: str
    mime: str
    name: str | None = None


ToolContent = Annotated[ToolText | ToolFile, Field(discriminator="type")]


class CallPending(Wire):
    """`input` is what has been said of it, no JSON yet."""

    status: Literal["pending"] = "pending"
    input: str


class Call(Wire):
    """`structured` is what the tool tells programs, `content` what the model reads."""

    input: dict[str, Any]
    structured: dict[str, Any]
    content: list[ToolContent] = Field(default_factory=list)


class CallRunning(Call):
    status: Literal["running"] = "running"


class CallCompleted(Call):
    status: Literal["completed"] = "completed"
    attachments: list[FileAttachment] | None = None
    output_paths: Annotated[list[str] | None, Field(alias="outputPaths")] = None


class CallFailed(Call):
    status: Literal["error"] = "error"
    error: ErrorUnknown


class CallTime(Wire):
    created: int
    ran: int | None = None
    completed: int | None = None
    pruned: int | None = None


class AssistantTool(Wire):
    """`id` is the id of the call."""

    type: Literal["tool"] = "tool"
    id: str
    name: str
    state: Annotated[CallPending | CallRunning | CallCompleted | CallFailed, Field(discriminator="status")]
    time: CallTime


Content = Annotated[AssistantText | AssistantReasoning | AssistantTool, Field(discriminator="type")]


def content_of(part: Part, created: int) -> AssistantText | AssistantReasoning | AssistantTool | None:
    """Of a part of the first protocol; None for one that is no content. `created` is its message's time."""
    ignored = part.get("ignored") or (part.get("metadata") or {}).get("ignored")
    if part["type"] == "text" and not ignored:
        return AssistantText(id=part["id"], text=part["text"])
    if part["type"] == "reasoning" and not ignored:
        time = Lasting(created=part["time"]["start"], completed=part["time"].get("end"))
        return AssistantReasoning(id=part["id"], text=part["text"], time=time)
    if part["type"] == "tool":
        return AssistantTool(
            id=part["callID"], name=part["tool"], state=state_of(part), time=_time(part, created)
        )
    return None


def state_of(part: Part) -> CallPending | CallRunning | CallCompleted | CallFailed:
    """Of a tool part."""
    state = part["state"]
    if state["status"] == "pending":
        return CallPending(input=state.get("raw", ""))
    given, structured = state["input"], state.get("metadata") or {}
    if state["status"] == "running":
        return CallRunning(input=given, structured=structured)
    if state["status"] == "error":
        return CallFailed(input=given, structured=structured, error=ErrorUnknown(message=state["error"]))
    path = structured.get("outputPath")
    files = state.get("attachments") or ()
    attachments = [
        FileAttachment(uri=file["url"], mime=file["mime"], name=file.get("filename")) for file in files
    ]
    return CallCompleted(
        input=given,
        structured=structured,
        content=output_of(state),
        attachments=attachments or None,
        output_paths=[path] if isinstance(path, str) else None,
    )


def output_of(state: Part) -> list[ToolText | ToolFile]:
    """What a completed call gave the model."""
    files = state.get("attachments") or ()
    found: list[ToolText | ToolFile] = [ToolText(text=state["output"])]
    found += [ToolFile(uri=file["url"], mime=file["mime"], name=file.get("filename")) for file in files]
    return found


def _time(part: Part, created: int) -> CallTime:
    time = part["state"].get("time") or {}
    return CallTime(
        created=time.get("start", created),
        ran=time.get("start"),
        completed=time.get("end"),
        pruned=time.get("compacted"),
    )

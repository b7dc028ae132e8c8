"""A tool call as an editor shows it: what kind it is, which files it is about, their diffs, its output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    TerminalToolCallContent,
    TextContentBlock,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallStatus,
    ToolCallUpdate,
    ToolKind,
)

from opencode_web.bridge.acp.content import blocks_of

Json = Mapping[str, Any]
Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent

KINDS: Mapping[str, ToolKind] = {
    "bash": "execute",
    "shell": "execute",
    "sandbox": "execute",
    "webfetch": "fetch",
    "websearch": "fetch",
    "codesearch": "fetch",
    "browser": "fetch",
    "edit": "edit",
    "multiedit": "edit",
    "write": "edit",
    "apply_patch": "edit",
    "read": "read",
    "external_directory": "read",
    "list": "search",
    "glob": "search",
    "grep": "search",
    "lsp": "search",
    "task": "think",
    "todowrite": "think",
    "todoread": "think",
    "plan_enter": "switch_mode",
    "plan_exit": "switch_mode",
}
"""By the name of a tool or of a permission; all others are `other`."""
STATUSES: Mapping[str, ToolCallStatus] = {
    "pending": "pending",
    "running": "in_progress",
    "completed": "completed",
    "error": "failed",
}


def call(part: Json, call_id: str, directory: str, *, first: bool) -> ToolCallStart | ToolCallProgress:
    """A tool part as the update that tells it, the first one or one of those after it."""
    state = part["state"]
    given = state.get("input") or {}
    fields: dict[str, Any] = {
        "tool_call_id": call_id,
        "title": state.get("title") or _title(part["tool"], given),
        "kind": KINDS.get(part["tool"], "other"),
        "status": STATUSES[state["status"]],
        "raw_input": given,
        "locations": _locations(given, state.get("metadata") or {}, directory),
        "content": list(_content(part["tool"], state, directory)),
    }
    if state["status"] == "completed":
        fields["raw_output"] = {"output": state["output"]}
    elif state["status"] == "error":
        fields["raw_output"] = {"error": state["error"]}
    if first:
        return ToolCallStart(session_update="tool_call", **fields)
    return ToolCallProgress(session_update="tool_call_update", **fields)


def asked(request: Json, call_id: str, directory: str) -> ToolCallUpdate:
    """The call that a permission request holds up."""
    metadata = request.get("metadata") or {}
    patterns = ", ".join(request.get("patterns") or [])
    words = str(metadata.get("command") or patterns)
    content: list[Content] = list(_diffs(metadata, directory))
    if reason := metadata.get("reviewer") or metadata.get("reason"):
        content.append(_text(str(reason)))
    return ToolCallUpdate(
        tool_call_id=call_id,
        title=f"{request['permission']}: {words}" if words else request["permission"],
        kind=KINDS.get(request["permission"], "other"),
        status="pending",
        raw_input=metadata,
        locations=_locations({}, metadata, directory),
        content=content or None,
    )


def _title(tool: str, given: Json) -> str:
    words = given.get("description") or given.get("filePath") or given.get("command") or given.get("pattern")
    return f"{tool}: {str(words).splitlines()[0][:120]}" if words else tool


def _locations(given: Json, metadata: Json, directory: str) -> list[ToolCallLocation]:
    named = [given.get("filePath") or given.get("path"), metadata.get("filepath")]
    files = metadata.get("files")
    named += [_named(file) for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    paths = dict.fromkeys(_absolute(path, directory) for path in named if isinstance(path, str) and path)
    return [ToolCallLocation(path=path) for path in paths]


def _named(file: Json) -> Any:
    return file.get("filePath") or file.get("filepath")


def _absolute(path: str, directory: str) -> str:
    return str(Path(directory, path))


def _content(tool: str, state: Json, directory: str) -> Iterator[Content]:
    metadata = state.get("metadata") or {}
    if state["status"] == "error":
        yield _text(state["error"])
        return
    diffs = list(_diffs(metadata, directory)) if state["status"] == "completed" else []
    yield from diffs
    output = state.get("output") if state["status"] == "completed" else metadata.get("output")
    if output and not diffs and tool not in ("todowrite", "todoread"):
        yield _text(fenced(output, "console") if KINDS.get(tool) == "execute" else str(output))
    for file in state.get("attachments") or []:
        for block in blocks_of(file):
            yield ContentToolCallContent(type="content", content=block)


def _diffs(metadata: Json, directory: str) -> Iterator[Content]:
    """Both texts of each file where they are told; else, of large ones, the diff as text."""
    files = metadata.get("files")
    for file in files if isinstance(files, list) else [metadata]:
        if not isinstance(file, dict):
            continue
        change = file.get("filediff") or file
        path = _named(file) or change.get("file")
        before, after = change.get("before"), change.get("after")
        if isinstance(path, str) and isinstance(before, str) and isinstance(after, str):
            where = _absolute(file.get("movePath") or path, directory)
            yield FileEditToolCallContent(type="diff", path=where, old_text=before or None, new_text=after)
        elif isinstance(diff := file.get("diff") or file.get("patch"), str) and diff:
            yield _text(fenced(diff, "diff"))


def fenced(text: str, language: str) -> str:
    """The text as a block of Markdown that nothing in it can end."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _text(text: str) -> ContentToolCallContent:
    return ContentToolCallContent(type="content", content=TextContentBlock(type="text", text=text))

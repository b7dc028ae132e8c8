"""The events of a tool call, by how far it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sessions.wire.v2 import conversation, events
from sessions.wire.v2.base import ErrorUnknown
from sessions.wire.v2.content import output_of

Wire = dict[str, Any]


def told_of_call(stage: str, part: Wire, about: Wire, shell: str = "") -> Iterator[events.Told]:
    """`about` are the fields that all have; `shell` is the prompt when it is a command of the user."""
    state = part["state"]
    named = about | {"call_id": part["callID"]}
    if shell:
        yield from _shell(stage, state, named, shell)
    elif stage == "pending":
        yield events.InputStarted(**named, name=part["tool"])
    elif stage == "running":
        if (part.get("metadata") or {}).get("parent"):  # a call that another call makes begins at once
            yield events.InputStarted(**named, name=part["tool"])
        given = state["input"]
        yield events.InputEnded(**named, text=state.get("raw") or json.dumps(given, ensure_ascii=False))
        yield events.ToolCalled(**named, tool=part["tool"], input=given)
    elif stage == "progress" and state["status"] == "running":
        yield events.ToolProgress(**named, structured=state.get("metadata") or {})
    elif stage == "completed" and state["status"] == stage:
        yield _success(state, named)
    elif stage == "error" and state["status"] == stage:
        yield events.ToolFailed(**named, error=ErrorUnknown(message=state["error"]))


def _success(state: Wire, named: Wire) -> events.ToolSuccess:
    structured = state.get("metadata") or {}
    path = structured.get("outputPath")
    return events.ToolSuccess(
        **named,
        structured=structured,
        content=output_of(state),
        output_paths=[path] if isinstance(path, str) else None,
    )


def _shell(stage: str, state: Wire, named: Wire, prompt_id: str) -> Iterator[events.Told]:
    fields = {key: named[key] for key in ("timestamp", "session_id", "call_id")}
    if stage == "running":
        command = str(state["input"].get("command", ""))
        yield events.ShellStarted(**fields, message_id=prompt_id, command=command)
    elif stage in ("completed", "error") and state["status"] == stage:
        yield events.ShellEnded(**fields, output=conversation.shell_output(state))

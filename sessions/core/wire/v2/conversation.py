"""Messages of the first protocol (`{"info", "parts"}`) as messages of the second. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessions.core.wire.parts import Created
from sessions.core.wire.session import SessionModel
from sessions.core.wire.v2.base import error_of, tokens_of
from sessions.core.wire.v2.content import Lasting, content_of
from sessions.core.wire.v2.messages import (
    AssistantMessageV2,
    CompactionMessage,
    ShellMessage,
    StepSnapshots,
    SyntheticMessage,
    UserMessageV2,
)
from sessions.core.wire.v2.prompts import prompt_of

Wire = Mapping[str, Any]
Entry = Mapping[str, Any]

SHELL = "shell"
"""The key in the metadata of a prompt's part that holds the command the user ran."""


def user_of(entry: Entry, shown_id: str) -> UserMessageV2 | SyntheticMessage:
    """A prompt; one that nobody wrote is synthetic."""
    info, parts = entry["info"], entry["parts"]
    time = Created(created=info["time"]["created"])
    if is_synthetic(parts):
        text = synthetic_text(parts)
        return SyntheticMessage(id=shown_id, time=time, session_id=info["sessionID"], text=text)
    prompt = prompt_of(parts)
    return UserMessageV2(id=shown_id, time=time, text=prompt.text, files=prompt.files, agents=prompt.agents)


def assistant_of(entry: Entry) -> AssistantMessageV2:
    info, parts = entry["info"], entry["parts"]
    created = info["time"]["created"]
    found = (content_of(part, created) for part in parts)
    ended = bool(info.get("finish"))
    return AssistantMessageV2(
        id=info["id"],
        time=Lasting(created=created, completed=info["time"].get("completed")),
        agent=info["agent"],
        model=answering_model(info),
        content=[content for content in found if content is not None],
        snapshot=_snapshots(parts),
        finish=info.get("finish"),
        cost=info.get("cost") if ended else None,
        tokens=tokens_of(info.get("tokens")) if ended else None,
        error=error_of(info["error"]) if info.get("error") else None,
    )


def compaction_of(request: Entry, summary: Entry, shown_id: str) -> CompactionMessage:
    """A request for a compaction with the complete summary that answers it."""
    return CompactionMessage(
        id=shown_id,
        time=Created(created=request["info"]["time"]["created"]),
        reason=reason_of(request["parts"]),
        summary=text_of(summary["parts"]),
    )


def shell_of(request: Entry, answer: Entry, shown_id: str) -> ShellMessage | None:
    """A command of the user with the answer that ran it; None while there is no call."""
    call = next((part for part in answer["parts"] if part["type"] == "tool"), None)
    if call is None:
        return None
    time = request["info"]["time"]["created"], answer["info"]["time"].get("completed")
    return ShellMessage(
        id=shown_id,
        time=Lasting(created=time[0], completed=time[1]),
        call_id=call["callID"],
        command=command_of(request["parts"]) or "",
        output=shell_output(call["state"]),
    )


def shell_output(state: Wire) -> str:
    """What a command has printed by now."""
    running = str((state.get("metadata") or {}).get("output") or "")
    return str(state.get("output") or state.get("error") or running)


def command_of(parts: Sequence[Wire]) -> str | None:
    """The command that a prompt is about, if that is one."""
    return next((part["metadata"][SHELL] for part in parts if SHELL in (part.get("metadata") or {})), None)


def request_of(parts: Sequence[Wire]) -> Wire | None:
    """The part of a prompt that asks for a compaction."""
    return next((part for part in parts if part["type"] == "compaction"), None)


def reason_of(parts: Sequence[Wire]) -> Any:
    asked = request_of(parts) or {}
    return "auto" if asked.get("auto") or asked.get("overflow") else "manual"


def is_complete(summary: Wire) -> bool:
    """Whether the info of a summary is that of one which took the place of what was said."""
    return bool(summary.get("finish") and summary["time"].get("completed") and not summary.get("error"))


def is_synthetic(parts: Sequence[Wire]) -> bool:
    return bool(parts) and all(part["type"] == "text" and part.get("synthetic") for part in parts)


def synthetic_text(parts: Sequence[Wire]) -> str:
    return "\n".join(part["text"] for part in parts)


def text_of(parts: Sequence[Wire]) -> str:
    return "".join(part["text"] for part in parts if part["type"] == "text" and not part.get("ignored"))


def answering_model(info: Wire) -> SessionModel:
    return SessionModel(id=info["modelID"], provider_id=info["providerID"], variant=info.get("variant"))


def _snapshots(parts: Sequence[Wire]) -> StepSnapshots | None:
    """The first and the last of a message, and the files that its patches name."""
    before = [part.get("snapshot") for part in parts if part["type"] == "step-start"]
    after = [part.get("snapshot") for part in parts if part["type"] == "step-finish"]
    files = [file for part in parts if part["type"] == "patch" for file in part["files"]]
    if not (any(before) or any(after) or files):
        return None
    start, end = (before or [None])[0], (after or [None])[-1]
    return StepSnapshots(start=start, end=end, files=list(dict.fromkeys(files)) or None)

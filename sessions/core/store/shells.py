"""The person's own shell commands: which user messages and which calls are about one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessions.core.models import Part

_MARK: Final = "shell"
"""The key in the metadata of the prompt's part that holds the command."""
CALL: Final[Mapping[str, Any]] = {_MARK: True}
"""The metadata of the call that runs it."""
_SAID: Final = "The user ran a command in the shell; the call below is theirs."


def part_of(command: str) -> dict[str, Any]:
    """The part of a prompt that has a command run."""
    return {"type": "text", "text": _SAID, "synthetic": True, "metadata": {_MARK: command}}


def command_of(part: Mapping[str, Any]) -> str:
    """The command that a prompt's part has run; empty for any other part."""
    return str((part.get("metadata") or {}).get(_MARK) or "") if part.get("synthetic") else ""


def is_own_call(part: Mapping[str, Any]) -> bool:
    """Whether a part is the call of a command that the person ran."""
    return part["type"] == "tool" and (part.get("metadata") or {}).get(_MARK) is True


def requested(message_id: str) -> str | None:
    """The command that a user message is about, if that is one."""
    row = Part.objects.filter(message_id=message_id, type="text", data__metadata__has_key=_MARK).first()
    return str(row.data["metadata"][_MARK]) if row else None

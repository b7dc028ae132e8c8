"""The person's own shell commands: which user messages are about one."""

from __future__ import annotations

from typing import Any, Final

from sessions.models import Part

_MARK: Final = "shell"
"""The key in the metadata of the prompt's part that holds the command."""
_SAID: Final = "The user ran a command in the shell; the call below is theirs."


def part_of(command: str) -> dict[str, Any]:
    """The part of a prompt that has a command run."""
    return {"type": "text", "text": _SAID, "synthetic": True, "metadata": {_MARK: command}}


def requested(message_id: str) -> str | None:
    """The command that a user message is about, if that is one."""
    row = Part.objects.filter(message_id=message_id, type="text", data__metadata__has_key=_MARK).first()
    return str(row.data["metadata"][_MARK]) if row else None

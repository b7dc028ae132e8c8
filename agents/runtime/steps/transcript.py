"""Session History of one drain: rows are read once, then only what is new (seed 002)."""

from __future__ import annotations

from typing import Any

from sessions.db import in_db
from sessions.store import context, messages

Entry = dict[str, Any]
"""`{"info", "parts"}` as the store gives it; a system message has the role `system`."""


class Transcript:
    """What is durable of a session, oldest first. A drain is the only writer of its history, so an entry
    that was complete when it was read does not change; `forget` when something did rewrite the past."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._entries: list[Entry] = []
        self._epoch = ""

    async def refresh(self) -> list[Entry]:
        """All entries as of now; from the last open message on they are read again."""
        while self._entries and not _complete(self._entries[-1]):
            self._entries.pop()
        last = self._entries[-1]["info"]["id"] if self._entries else ""
        epoch, newer = await in_db(_newer, self._session_id, last)
        if epoch != self._epoch:  # what was told in earlier epochs has left the model's history
            self._entries = [entry for entry in self._entries if entry["info"]["role"] != "system"]
            self._epoch = epoch
        self._entries += newer
        return self._entries

    def forget(self) -> None:
        self._entries = []


def _newer(session_id: str, last: str) -> tuple[str, list[Entry]]:
    """The epoch, and messages and its system messages after an id, merged by their ids."""
    epoch, told = context.history(session_id, last)
    said = messages.history(session_id, after=last)
    return epoch, sorted([*said, *told], key=lambda entry: str(entry["info"]["id"]))


def _complete(entry: Entry) -> bool:
    """A user message may still get its summary, which no model sees; an answer is complete with its time."""
    return bool(entry["info"]["role"] != "assistant" or entry["info"]["time"].get("completed"))

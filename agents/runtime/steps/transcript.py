"""Session History of one drain: rows are read once, then only what is new (seed 002)."""

from __future__ import annotations

from typing import Any

from sessions.db import in_db
from sessions.store import messages

Entry = dict[str, Any]
"""`{"info", "parts"}` as the store gives it."""


class Transcript:
    """What is durable of a session, oldest first. A drain is the only writer of its history, so an entry
    that was complete when it was read does not change; `forget` when something did rewrite the past."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._entries: list[Entry] = []

    async def refresh(self) -> list[Entry]:
        """All entries as of now; from the last open message on they are read again."""
        while self._entries and not _complete(self._entries[-1]):
            self._entries.pop()
        last = self._entries[-1]["info"]["id"] if self._entries else ""
        self._entries += await in_db(messages.history, self._session_id, after=last)
        return self._entries

    def forget(self) -> None:
        self._entries = []


def _complete(entry: Entry) -> bool:
    """A user message may still get its summary, which no model sees; an answer is complete with its time."""
    return bool(entry["info"]["role"] == "user" or entry["info"]["time"].get("completed"))

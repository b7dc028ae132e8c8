"""What an event says about how far a turn is."""

from __future__ import annotations

import time
from collections.abc import Callable

from opencode_web.bridge.formatting.messages import call_name
from opencode_web.remote.events import Event

INTERVAL = 1.0
"""Seconds between two words about text that is being written."""


class Progress:
    """Texts for the one who waits; none for events that say nothing new."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._characters = 0
        self._told = float("-inf")
        self._calls: dict[str, str] = {}

    def note(self, event: Event) -> str | None:
        given = event.properties
        match event.type:
            case "message.part.delta":
                return self._delta(given)
            case "message.part.updated" if given["part"]["type"] == "tool":
                return self._call(given["part"])
            case "session.status" if given["status"]["type"] == "retry":
                return f"retrying, attempt {given['status']['attempt']}: {given['status']['message']}"
            case "session.status" if (
                given["status"]["type"] == "busy" and not self._calls and not self._characters
            ):
                return "working"
            case "todo.updated":
                done = sum(item["status"] == "completed" for item in given["todos"])
                return f"{done} of {len(given['todos'])} todos are done"
            case "session.compacted":
                return "the conversation was compacted"
        return None

    def _delta(self, given: dict[str, str]) -> str | None:
        self._characters += len(given["delta"])
        now = self._clock()
        if now - self._told < INTERVAL:
            return None
        self._told = now
        return f"{self._characters} characters written"

    def _call(self, part: dict[str, object]) -> str | None:
        """A call is told once in each of its states."""
        state = part["state"]
        assert isinstance(state, dict)
        status, call_id = str(state["status"]), str(part["callID"])
        if status == "pending" or self._calls.get(call_id) == status:
            return None
        self._calls[call_id] = status
        return f"{call_name(part)} ({status})"

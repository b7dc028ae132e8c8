"""What the card of an errand shows while a subagent works: the call's metadata, made of its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.tools.base import ToolContext
from sessions import bus

MOST_LISTED = 20
"""Calls in the wire's `summary`; `calls` counts all."""
MOST_WORDS = 120
_FOLLOWED = frozenset(
    {
        "message.part.updated",
        "permission.asked",
        "permission.replied",
        "question.asked",
        "question.replied",
        "question.rejected",
    }
)


class Progress:
    """`known` is what stays the same: ids and model, as OpenCode's clients read them."""

    def __init__(self, context: ToolContext, known: Mapping[str, Any]) -> None:
        self._context = context
        self._known = known
        self._calls: dict[str, dict[str, Any]] = {}
        self._asking: set[str] = set()
        self._tokens = 0

    @staticmethod
    def wants(event: bus.Event) -> bool:
        return event.type in _FOLLOWED

    def metadata(self) -> dict[str, Any]:
        return {
            **self._known,
            "calls": len(self._calls),
            "tokens": self._tokens,
            "waiting": bool(self._asking) or any(call["waiting"] for call in self._calls.values()),
            "summary": [
                {key: call[key] for key in ("id", "tool", "state")}
                for call in list(self._calls.values())[-MOST_LISTED:]
            ],
        }

    async def follow(self, mailbox: bus.Subscription) -> None:
        """Until cancelled; one that falls behind shows what it had."""
        while not mailbox.overflowed:
            for event in await mailbox.take():
                self._note(event)
            await self._context.update(metadata=self.metadata())

    async def rest(self, mailbox: bus.Subscription) -> None:
        """The child is done: what has not been looked at yet."""
        for event in await mailbox.take(0):
            self._note(event)
        await self._context.update(metadata=self.metadata())

    def _note(self, event: bus.Event) -> None:
        properties = event.properties
        if event.type == "message.part.updated":
            self._note_part(properties["part"])
        elif event.type.endswith(".asked"):
            self._asking.add(properties["id"])
        else:
            self._asking.discard(properties["requestID"])

    def _note_part(self, part: Mapping[str, Any]) -> None:
        if part["type"] == "step-finish":
            tokens = part["tokens"]
            cache = tokens.get("cache") or {}
            self._tokens += tokens["input"] + tokens["output"] + tokens["reasoning"] + sum(cache.values())
        elif part["type"] == "tool":
            state = part["state"]
            running = state["status"] in ("pending", "running")
            self._calls[part["id"]] = {
                "id": part["id"],
                "tool": part["tool"],
                "state": {"status": state["status"], "title": _title(state)},
                "waiting": running and bool((state.get("metadata") or {}).get("waiting")),
            }


def _title(state: Mapping[str, Any]) -> str:
    """What the call is about: the title its tool gave it, else the first words of its input."""
    given = (state.get("input") or {}).values()
    words = state.get("title") or next((value for value in given if isinstance(value, str)), "")
    return str(words).strip().partition("\n")[0][:MOST_WORDS]

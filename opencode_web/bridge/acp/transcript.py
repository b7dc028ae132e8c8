"""What the editor has been told of a session: rows, events and a history tell a thing once between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    Cost,
    PlanEntry,
    PlanEntryPriority,
    PlanEntryStatus,
    TextContentBlock,
    UsageUpdate,
    UserMessageChunk,
)

from opencode_web.bridge.acp.calls import call
from opencode_web.bridge.acp.content import blocks_of
from opencode_web.bridge.acp.editor import Update

Json = Mapping[str, Any]
ORDER = ("pending", "running", "completed", "error")
"""A tool call's states: an older one that comes late tells nothing."""
TODO_STATUSES: Mapping[str, PlanEntryStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
PRIORITIES: Mapping[str, PlanEntryPriority] = {"high": "high", "medium": "medium", "low": "low"}


class Transcript:
    """`directory` is the session's. Parts are told in the order they come in."""

    def __init__(self, directory: str) -> None:
        self.last = ""
        """The id of the newest message that was seen."""
        self._directory = directory
        self._roles: dict[str, str] = {}
        self._own: set[str] = set()
        self._kinds: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._ended: set[str] = set()
        self._calls: dict[str, Json] = {}
        """The last state that was told of each call, by its part."""
        self._call_ids: dict[tuple[str, str], str] = {}
        """By message and the model's id of the call, which some give again in the next message."""
        self._used: set[str] = set()

    def own(self, message_id: str) -> None:
        """This user message came from the editor, which shows it already."""
        self._own.add(message_id)

    def skip(self, messages: Sequence[Json]) -> None:
        """All that they have counts as told."""
        for _ in self.history(messages):
            pass

    def history(self, messages: Sequence[Json]) -> Iterator[Update]:
        """What is new in messages with their parts, oldest first."""
        for message in messages:
            self.message(message["info"])
            for part in message["parts"]:
                yield from self.part(part)

    def message(self, info: Json) -> None:
        self._roles[info["id"]] = info["role"]
        self.last = max(self.last, info["id"])

    def part(self, part: Json) -> Iterator[Update]:
        """What is new in a part as it is now."""
        kind = part["type"]
        role = self._roles.get(part["messageID"]) or ("assistant" if part.get("time") else "")
        if role == "user":
            yield from self._user(part)
        elif kind == "tool":
            yield from self._call(part)
        elif kind in ("text", "reasoning") and role:
            yield from self._text(part)
        elif kind == "file" and role and part["id"] not in self._ended:
            self._ended.add(part["id"])
            for block in blocks_of(part):
                yield AgentMessageChunk(session_update="agent_message_chunk", content=block)

    def delta(self, properties: Json) -> Iterator[Update]:
        """A piece of a text that is being written."""
        part_id = properties["partID"]
        if part_id in self._kinds and part_id not in self._ended and properties.get("field") == "text":
            yield from self._chunk(part_id, properties["delta"])

    def call_id(self, request: Json) -> str:
        """What the editor knows the call by that asks; a subagent's it does not know."""
        tool = request.get("tool") or {}
        return self._call_ids.get((tool.get("messageID", ""), tool.get("callID", "")), str(request["id"]))

    def resume(self) -> None:
        """Events were missed: what is being written now is told at its end, as pieces of it are missing."""
        self._ended |= self._kinds.keys()

    def _user(self, part: Json) -> Iterator[Update]:
        if part["messageID"] in self._own or part["id"] in self._ended:
            return
        self._ended.add(part["id"])
        for block in blocks_of(part):
            yield UserMessageChunk(session_update="user_message_chunk", content=block)

    def _call(self, part: Json) -> Iterator[Update]:
        told = self._calls.get(part["id"])
        state = part["state"]
        if told is not None:
            if told == state or ORDER.index(state["status"]) < ORDER.index(told["status"]):
                return
            if told["status"] in ("completed", "error"):
                return
        self._calls[part["id"]] = state
        known = (part["messageID"], part["callID"])
        if known not in self._call_ids:
            self._call_ids[known] = part["id"] if part["callID"] in self._used else part["callID"]
            self._used.add(part["callID"])
        yield call(part, self._call_ids[known], self._directory, first=told is None)

    def _text(self, part: Json) -> Iterator[Update]:
        part_id, text = part["id"], part.get("text") or ""
        self._kinds[part_id] = part["type"]
        told = self._texts.get(part_id, "")
        if text.startswith(told) and len(text) > len(told) and not part.get("synthetic"):
            yield from self._chunk(part_id, text[len(told) :])
        if (part.get("time") or {}).get("end"):
            self._ended.add(part_id)

    def _chunk(self, part_id: str, text: str) -> Iterator[Update]:
        self._texts[part_id] = self._texts.get(part_id, "") + text
        block = TextContentBlock(type="text", text=text)
        if self._kinds[part_id] == "reasoning":
            yield AgentThoughtChunk(session_update="agent_thought_chunk", content=block)
        else:
            yield AgentMessageChunk(session_update="agent_message_chunk", content=block)


def plan(todos: Sequence[Json]) -> AgentPlanUpdate:
    """The todo list; what was given up is left out, as a plan has no such state."""
    entries = [
        PlanEntry(
            content=todo["content"],
            priority=PRIORITIES.get(todo.get("priority", ""), "medium"),
            status=TODO_STATUSES[todo["status"]],
        )
        for todo in todos
        if todo["status"] in TODO_STATUSES
    ]
    return AgentPlanUpdate(session_update="plan", entries=entries)


def usage(info: Json, context: int, spent: float) -> UsageUpdate | None:
    """How full the context was with an answer, in tokens, and what the session cost (US dollars)."""
    tokens = info.get("tokens") or {}
    cache = tokens.get("cache") or {}
    used = sum(tokens.get(kind) or 0 for kind in ("input", "output", "reasoning"))
    used += sum(cache.get(kind) or 0 for kind in ("read", "write"))
    if not used or not context:
        return None
    cost = Cost(amount=spent, currency="USD")
    return UsageUpdate(session_update="usage_update", used=used, size=context, cost=cost)

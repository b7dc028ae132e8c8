"""What is counted as it happens, since this process began: turns, calls, tokens, requests, what is open.

Turns are heard of on the bus, so a server counts those of its workers, too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from agents.toolkit.names import NAMES
from opencode_web.site.metrics.exposition import Family
from opencode_web.site.security.asgi import Application, Message, Receive, Scope, Send
from sessions.core import bus
from sessions.core.bounded import Bounded

TURNS = Family("opencode_web_turns_ended_total", "counter", "Turns that ended, by how: done, or the error.")
CALLS = Family(
    "opencode_web_calls_total", "counter", "Calls of tools that ended; those of others are `other`."
)
TOKENS = Family("opencode_web_tokens_total", "counter", "Tokens of steps, by model and kind.")
COST = Family("opencode_web_cost_dollars_total", "counter", "What steps cost by the prices known, by model.")
DELTAS = Family("opencode_web_deltas_total", "counter", "Pieces of text that were streamed.")
REQUESTS = Family(
    "opencode_web_http_requests_total", "counter", "Requests that were answered, by class of status."
)
SECONDS = Family("opencode_web_http_seconds_total", "counter", "Time until their answers began.")
OPEN = Family(
    "opencode_web_open", "gauge", "Sockets of pages and terminals, and event streams, that are open."
)
for _plain in (DELTAS, SECONDS):
    _plain.add(0)
FAMILIES = (TURNS, CALLS, TOKENS, COST, DELTAS, REQUESTS, SECONDS, OPEN)

_REMEMBERED = 4096
_STOPPED = "MessageAbortedError"


class Counter:
    """Counts what the bus tells, each call and step once however often it is told of."""

    def __init__(self) -> None:
        self._seen: Bounded[str, bool] = Bounded(_REMEMBERED)
        self._models: Bounded[str, str] = Bounded(_REMEMBERED)
        self._ends: Bounded[str, str] = Bounded(_REMEMBERED)

    def hear(self, event: bus.Event) -> None:
        properties = event.properties
        match event.type:
            case "message.part.delta":
                DELTAS.add()
            case "message.part.updated":
                self._part(properties["part"])
            case "message.updated":
                self._message(properties["info"])
            case "session.error":
                self._ends[event.session_id] = str(properties["error"]["name"])
            case "session.idle":
                TURNS.add(kind=self._ends.pop(event.session_id, "done"))

    def _message(self, info: Mapping[str, Any]) -> None:
        if info["role"] != "assistant":
            return
        self._models[info["id"]] = f"{info['providerID']}/{info['modelID']}"
        error = info.get("error") or {}
        if error.get("name") == _STOPPED:  # of which no error tells
            self._ends[info["sessionID"]] = _STOPPED

    def _part(self, part: Mapping[str, Any]) -> None:
        if part["type"] == "tool" and part["state"]["status"] in ("completed", "error"):
            if self._is_new(part):
                name = part["tool"] if part["tool"] in NAMES else "other"
                CALLS.add(tool=name, status=part["state"]["status"])
        elif part["type"] == "step-finish" and self._is_new(part):
            model = self._models.get(part["messageID"], "unknown")
            for kind, count in _kinds(part["tokens"]):
                TOKENS.add(count, model=model, kind=kind)
            COST.add(part["cost"], model=model)

    def _is_new(self, part: Mapping[str, Any]) -> bool:
        known = part["id"] in self._seen
        self._seen[part["id"]] = True
        return not known


def _kinds(tokens: Mapping[str, Any]) -> list[tuple[str, int]]:
    cache = tokens["cache"]
    return [
        *((kind, tokens[kind]) for kind in ("input", "output", "reasoning")),
        *((f"cache_{kind}", cache[kind]) for kind in ("read", "write")),
    ]


async def follow() -> None:
    """Count until it is cancelled. Who falls behind misses some, and counts on."""
    counter = Counter()
    while True:
        async with bus.subscribe() as mailbox:
            while not mailbox.overflowed:
                for event in await mailbox.take():
                    counter.hear(event)


def counted(application: Application) -> Application:
    """The application, with its requests and what is open counted."""

    async def count(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await _while_open("socket", application, scope, receive, send)
        elif scope["type"] == "http":
            await _request(application, scope, receive, send)
        else:
            await application(scope, receive, send)

    return count


async def _while_open(
    kind: str, application: Application, scope: Scope, receive: Receive, send: Send
) -> None:
    OPEN.add(1, kind=kind)
    try:
        await application(scope, receive, send)
    finally:
        OPEN.add(-1, kind=kind)


async def _request(application: Application, scope: Scope, receive: Receive, send: Send) -> None:
    began = time.perf_counter()
    streams = 0

    async def told(message: Message) -> None:
        nonlocal streams
        if message["type"] == "http.response.start":
            REQUESTS.add(status=f"{message['status'] // 100}xx")
            SECONDS.add(time.perf_counter() - began)
            streams = int((b"content-type", b"text/event-stream") in _kind(message))
            OPEN.add(streams, kind="stream")
        await send(message)

    try:
        await application(scope, receive, told)
    finally:
        OPEN.add(-streams, kind="stream")


def _kind(message: Message) -> list[tuple[bytes, bytes]]:
    """Its media type, without parameters."""
    return [(name.lower(), value.partition(b";")[0]) for name, value in message.get("headers", ())]

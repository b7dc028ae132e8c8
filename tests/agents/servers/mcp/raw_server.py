"""An MCP server over stdio by hand, that can do what it must not. Run by path; the first argument says how it
starts, its tools what it does later. Needs nothing but the standard library, so that it starts at once."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

MB = 1024 * 1024
MANY = 1200
TOOLS = [
    *("echo", "die", "hang", "cancelled", "grow", "flood", "huge", "noise", "pid", "../x", "pair", "twice"),
    *("broken", "large"),
]
MODERN = "2026-07-28"

tools = list(TOOLS)
cancelled: list[int] = []
pairs: list[int] = []
how = sys.argv[1] if len(sys.argv) > 1 else ""
waiting: list[Callable[[], None]] = []
"""Answers that are given once the client has listed the tools again."""


def send(message: dict[str, Any]) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}))


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def answer(id: Any, result: dict[str, Any]) -> None:
    send({"id": id, "result": result})


def text(id: Any, words: str) -> None:
    answer(id, {"content": [{"type": "text", "text": words}]})


def say(words: str) -> None:
    sys.stderr.write(words + "\n")
    sys.stderr.flush()


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"{name} it", "inputSchema": {"type": "object"}}


def listed(cursor: str) -> dict[str, Any]:
    if how == "many":
        start = int(cursor or 0)
        page = {"tools": [tool(f"t{number}") for number in range(start, start + 100)]}
        return page | ({"nextCursor": str(start + 100)} if start + 100 < MANY else {})
    if how == "round":
        return {"tools": [tool("t")], "nextCursor": "again"}
    if how == "fat":
        return {"tools": [tool(f"t{number}") | {"description": "x" * MB} for number in range(6)]}
    if how == "loose":
        schemas: tuple[Any, ...] = (
            {},
            {"properties": {"a": {"type": "string"}}},
            True,
            {"type": ["object", "null"]},
            {"anyOf": []},
        )
        kinds = [{"type": "string"}, {"type": ["string"]}, "text", None]
        return {
            "tools": [{"name": f"t{at}", "inputSchema": one} for at, one in enumerate([*schemas, *kinds])]
        }
    if how == "odd":
        return {"tools": [tool("echo"), {"name": "no schema"}, "text", {**tool("x"), "name": 5}, tool("pid")]}
    return {"tools": [tool(name) for name in tools]}


def grow(id: int, name: str = "grown") -> None:
    """The list changes while the call is in flight; it is answered when the client has seen that."""
    tools.append(name)
    waiting.append(lambda: text(id, "grown"))
    send({"method": "notifications/tools/list_changed"})


def die(id: int) -> None:
    say("these are my last words")
    os._exit(7)


def flood(id: int) -> None:
    for _ in range(200):
        say("x" * 50_000)
    text(id, "flooded")


def noise(id: int) -> None:
    for number in range(90):
        write(f"a banner, line {number}")
    text(id, "after the noise")


def pair(id: int) -> None:
    """Two calls in flight: the person is asked, the later call is answered at once, the earlier one with what
    the person says."""
    pairs.append(id)
    if len(pairs) == 2:
        form = {"type": "object", "properties": {"word": {"type": "string"}}}
        asked = {"mode": "form", "message": "Which word?", "requestedSchema": form}
        send({"id": "pair", "method": "elicitation/create", "params": asked})
        text(id, "at once")


def twice(id: int) -> None:
    text(id, "first")
    text(id, "second")


CALLS: dict[str, Callable[[int], None]] = {
    "echo": lambda id: text(id, "echo"),
    "die": die,
    "hang": lambda id: None,
    "cancelled": lambda id: text(id, json.dumps(len(cancelled))),
    "grow": grow,
    "flood": flood,
    "huge": lambda id: text(id, "x" * 50 * MB),
    "noise": noise,
    "pid": lambda id: text(id, str(os.getpid())),
    "../x": lambda id: text(id, "x"),
    "pair": pair,
    "twice": twice,
    "broken": lambda id: write(f'{{"jsonrpc": "2.0", "id": {id}, "result": {{"content": ['),
    "large": lambda id: text(id, "x" * 10 * MB),
}

INFO = {"name": "raw", "version": "1"}
CAPABILITIES = {"tools": {"listChanged": True}, "prompts": {}}


def modern(message: dict[str, Any]) -> bool:
    """MCP 2026-07-28 and nothing older; whether the message is dealt with."""
    id, method = message.get("id"), message.get("method")
    complete = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == "initialize":
        data = {"supported": [MODERN], "requested": message["params"]["protocolVersion"]}
        send({"id": id, "error": {"code": -32022, "message": "too old", "data": data}})
    elif method == "server/discover":
        answer(
            id, {"supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}}, **complete}
        )
    elif method == "subscriptions/listen":
        meta = {"io.modelcontextprotocol/subscriptionId": id}
        honored = {"toolsListChanged": True}
        send(
            {
                "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": meta, "notifications": honored},
            }
        )
        tools.append("told of")
        send({"method": "notifications/tools/list_changed", "params": {"_meta": meta}})
    elif method == "tools/list":
        answer(id, {"tools": [tool(name) for name in tools], **complete})
    return True


def handle(message: dict[str, Any]) -> None:
    id, method = message.get("id"), message.get("method")
    if how == "silent":
        return
    if how == "modern" and modern(message):
        return
    if method == "initialize" and how == "refuses":
        send({"id": id, "error": {"code": -32603, "message": "not today"}})
    elif method == "initialize":
        version = message["params"]["protocolVersion"]
        has = {**CAPABILITIES, "resources": {}} if how == "odd" else CAPABILITIES
        answer(id, {"protocolVersion": version, "capabilities": has, "serverInfo": INFO})
    elif method == "tools/list":
        answer(id, listed(message.get("params", {}).get("cursor", "")))
        while waiting:
            waiting.pop()()
    elif method == "prompts/list" and how == "odd":
        answer(id, {"prompts": [{"name": "hello"}, {"description": "without a name"}]})
    elif method == "resources/list" and how == "odd":
        answer(id, {"resources": "none"})
    elif method == "tools/call":
        name, token = message["params"]["name"], message["params"].get("_meta", {}).get("progressToken")
        if name == "hang" and token is not None:
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 0}})
        CALLS[name](message["id"])
    elif id == "pair":
        text(pairs[0], json.dumps(message["result"]))
    elif method == "notifications/cancelled":
        cancelled.append(message["params"]["requestId"])
    elif id is not None and method is not None:
        send({"id": id, "error": {"code": -32601, "message": f"no {method}"}})


def main() -> None:
    if how == "exits":
        say("I do not want to")
        sys.exit(3)
    if how == "garbage":
        while True:
            write("garbage")
    if path := os.environ.get("PID_FILE"):
        with open(path, "w") as file:
            file.write(str(os.getpid()))
    for line in sys.stdin:
        handle(json.loads(line))


if __name__ == "__main__":
    main()

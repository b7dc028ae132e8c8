"""An MCP server and a language server whose every word is hostile. Run by path; the argument says which of
both. Needs nothing but the standard library, so that it starts at once."""

from __future__ import annotations

import json
import sys
from typing import Any

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\0\x1b[2J\x1b]0;t\x07\u202egnp.\u2066"
LONE = "\ud800"
LONG = EVIL + "x" * 1_000_000
SCHEMA = {"type": "object", "properties": {}, "description": EVIL}
OUTPUT = sys.stdout.buffer
waiting: list[Any] = []
"""The calls that are answered when the person has answered."""


def mcp(message: dict[str, Any]) -> None:
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    info = {"name": LONG, "version": EVIL}
    some = {"description": LONG[:300_000], "title": LONG[:300_000]}  # of all tools together 4 MB are taken
    uris = ["javascript:alert(1)", f"x://{EVIL}", "file:///etc/passwd"]
    arguments = [{"name": EVIL, "description": EVIL, "required": True}]
    form = {"type": "object", "properties": {EVIL: {"type": "string", "title": EVIL, "description": LONG}}}
    answers: dict[str, Any] = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            "serverInfo": info,
            "instructions": LONG,
        },
        "tools/list": {
            "tools": [
                {"name": name, "inputSchema": SCHEMA, **some} for name in (EVIL, "says", "fails", "asks")
            ]
        },
        "prompts/list": {"prompts": [{"name": EVIL, "arguments": arguments, **some}]},
        "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": LONG}}]},
        "resources/list": {
            "resources": [{"name": EVIL, "uri": uri, "mimeType": EVIL, **some} for uri in uris]
        },
        "resources/templates/list": {"resourceTemplates": [{"name": EVIL, "uriTemplate": uris[1], **some}]},
        "resources/read": {"contents": [{"uri": uris[0], "mimeType": "text/html", "text": LONG}]},
    }
    if method == "tools/call" and params["name"] == "asks":
        kinds: list[dict[str, Any]] = [{"requestedSchema": form}, {"mode": "url", "url": uris[0]}]
        for number, asked in enumerate(kinds, 1000):
            line({"id": number, "method": "elicitation/create", "params": {"message": LONG, **asked}})
        waiting.append(id)
    elif method is None and id == 1000:
        line({"id": waiting.pop(), "result": {"content": [{"type": "text", "text": EVIL}]}})
    elif method == "tools/call" and params["name"] == "fails":
        line({"id": id, "error": {"code": -32000, "message": LONG, "data": EVIL}})
    elif method == "tools/call":
        sys.stderr.write(f"{LONG}\n")
        sys.stderr.flush()
        token = (params.get("_meta") or {}).get("progressToken")
        about = {"progressToken": token, "progress": 1, "message": LONG}
        line({"method": "notifications/progress", "params": about})
        structured = {EVIL: EVIL}
        line(
            {
                "id": id,
                "result": {"content": [{"type": "text", "text": LONG}], "structuredContent": structured},
            }
        )
    elif method in answers:
        line({"id": id, "result": answers[method]})
    elif id is not None and method is not None:
        line({"id": id, "error": {"code": -32601, "message": EVIL}})


def language(message: dict[str, Any]) -> None:
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    if method == "initialize":
        provided = {"textDocumentSync": 1, "workspaceSymbolProvider": True, "documentSymbolProvider": True}
        frame({"id": id, "result": {"capabilities": provided}})
    elif method in ("textDocument/didOpen", "textDocument/didChange"):
        document = params["textDocument"]
        texts = (EVIL + LONE, LONG, LONE)
        said = [
            {"range": place, "severity": 1, "message": text, "code": text, "source": text} for text in texts
        ]
        odd = [
            {"range": {"start": {"line": line, "character": line}, "end": place["end"]}, "message": "odd"}
            for line in (-5, 10**30, float("inf"), float("nan"), EVIL, None)
        ]
        about = {"uri": document["uri"], "version": document["version"], "diagnostics": [*odd, *said]}
        frame({"method": "window/logMessage", "params": {"type": 1, "message": LONG + LONE}})
        frame({"method": "textDocument/publishDiagnostics", "params": about})
        for uri in ("file:///etc/passwd", "javascript:alert(1)", f"file:///{EVIL}{LONE}"):
            frame(
                {
                    "method": "textDocument/publishDiagnostics",
                    "params": {**about, "uri": uri, "diagnostics": said},
                }
            )
        frame({"method": LONG, "params": {}})
    elif method == "workspace/symbol":
        found = [
            {
                "name": f"hello{name}",
                "kind": kind,
                "containerName": name,
                "location": {"uri": uri, "range": place},
            }
            for name, kind in ((EVIL + LONE, 12), (LONG, 12), ("x", float("inf")))
            for uri in (
                ROOT + "/hello.py",
                ROOT + "/../../etc/passwd",
                "javascript:alert(1)",
                f"{ROOT}/{LONE}.py",
            )
        ]
        frame({"id": id, "result": found})
    elif id is not None and method is not None:
        frame({"id": id, "result": None})
    if method == "exit":
        sys.exit(0)


def line(message: dict[str, Any]) -> None:
    OUTPUT.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    OUTPUT.flush()


def frame(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    OUTPUT.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    OUTPUT.flush()


ROOT = ""


def main() -> None:
    global ROOT
    source = sys.stdin.buffer
    while data := source.readline():
        if sys.argv[1] == "mcp":
            mcp(json.loads(data))
            continue
        length = int(data.partition(b":")[2])
        while source.readline().strip():
            pass
        message = json.loads(source.read(length))
        if message.get("method") == "initialize":
            ROOT = message["params"]["rootUri"].rstrip("/")
        language(message)


if __name__ == "__main__":
    main()

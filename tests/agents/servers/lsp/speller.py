"""A language server that finds the word `wrong`; run as a program, with the standard library alone. Each file
that it was told of is a symbol of its name.

Each start is a line in the file of its first argument: the folder it is started in. The word `die` in a
file that it is told of ends it; with a second argument it fails at once, and says that. It ends when the
file that `SPELLER_ENDS` names is there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def read() -> dict[str, Any]:
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    if not line:
        sys.exit(0)
    found: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return found


def look(uri: str, version: int, text: str) -> None:
    if "die" in text:
        sys.stderr.write("it reads of death\n")
        sys.stderr.flush()
        os._exit(3)
    found = [
        {
            "range": {"start": {"line": at, "character": 0}, "end": {"line": at, "character": 5}},
            "severity": 1,
            "message": line,
        }
        for at, line in enumerate(text.splitlines())
        if "wrong" in line
    ]
    params = {"uri": uri, "version": version, "diagnostics": found}
    send({"method": "textDocument/publishDiagnostics", "params": params})


def symbol(uri: str) -> dict[str, Any]:
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}}
    return {"name": Path(uri).name, "kind": 12, "location": {"uri": uri, "range": place}}


def main() -> None:
    opened: list[str] = []
    with Path(sys.argv[1]).open("a") as starts:
        starts.write(f"{Path.cwd()}\n")
    if len(sys.argv) > 2:
        sys.exit(sys.argv[2])
    while True:
        message = read()
        params = message.get("params") or {}
        match message["method"]:
            case "initialize":
                capabilities = {"textDocumentSync": 1, "workspaceSymbolProvider": True}
                send({"id": message["id"], "result": {"capabilities": capabilities}})
            case "workspace/symbol":
                send({"id": message["id"], "result": [symbol(uri) for uri in opened]})
            case "textDocument/didOpen":
                item = params["textDocument"]
                opened.append(item["uri"])
                look(item["uri"], item["version"], item["text"])
            case "textDocument/didChange":
                item = params["textDocument"]
                look(item["uri"], item["version"], params["contentChanges"][-1]["text"])
            case "shutdown":
                while not Path(os.environ.get("SPELLER_ENDS", "/")).exists():
                    time.sleep(0.01)
                send({"id": message["id"], "result": None})
            case "exit":
                return
            case _ if "id" in message:
                send({"id": message["id"], "result": None})


main()

"""A language server for tests, run as a program: lines with `wrong` are errors, lines with `odd` warnings.

A file that names another by `needs NAME` has an error while that other file, as it was last shown, has no
`here` in it. Lines that begin with `def NAME` are functions. With `silent` as its argument it says nothing of
any file, with `gone` it ends at the first one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SILENT, GONE = "silent" in sys.argv, "gone" in sys.argv
files: dict[str, str] = {}


def read() -> Any:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def send(message: dict[str, Any]) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
    sys.stdout.buffer.flush()


def found(uri: str) -> list[dict[str, Any]]:
    items = []
    for number, line in enumerate(files[uri].splitlines()):
        for word, severity in (("wrong", 1), ("odd", 2)):
            if word in line:
                items.append(diagnostic(number, units(line[: line.index(word)]), len(word), severity, line))
        if line.startswith("needs "):
            other = Path(uri).with_name(line.removeprefix("needs ").strip()).name
            there = any(name.endswith(other) and "here" in text for name, text in files.items())
            items += [] if there else [diagnostic(number, 0, len(line), 1, f"{other} is not here")]
    return items


def symbols(query: str) -> list[dict[str, Any]]:
    defined = (
        (uri, number, line.removeprefix("def ").strip())
        for uri, text in files.items()
        for number, line in enumerate(text.splitlines())
        if line.startswith("def ")
    )
    return [
        {"name": name, "kind": 12, "location": {"uri": uri, "range": span(number, 4, len(name))}}
        for uri, number, name in defined
        if query in name
    ]


def span(line: int, start: int, length: int) -> dict[str, Any]:
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": start + length},
    }


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def diagnostic(line: int, start: int, length: int, severity: int, message: str) -> dict[str, Any]:
    return {
        "range": span(line, start, length),
        "severity": severity,
        "message": message,
        "code": "finder",
        "source": "finder",
    }


def tell() -> None:
    for uri in files:
        send({"method": "textDocument/publishDiagnostics", "params": {"uri": uri, "diagnostics": found(uri)}})


def main() -> None:
    while message := read():
        method, params = message.get("method"), message.get("params") or {}
        if method == "initialize":
            able = {"textDocumentSync": 1, "workspaceSymbolProvider": True}
            send({"id": message["id"], "result": {"capabilities": able}})
        elif method == "workspace/symbol":
            send({"id": message["id"], "result": symbols(params["query"])})
        elif method in ("textDocument/didOpen", "textDocument/didChange"):
            if GONE:
                sys.exit(3)
            document = params["textDocument"]
            files[document["uri"]] = (
                document.get("text") or params.get("contentChanges", [{"text": ""}])[-1]["text"]
            )
            if not SILENT:
                tell()
        elif "id" in message and method:
            send({"id": message["id"], "result": None})
        elif method == "exit":
            return


if __name__ == "__main__":
    main()

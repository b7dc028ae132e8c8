"""A language server that does what a test asks of it; run as a program, with the standard library alone.

The first argument is what it does wrong from the start (see `BAD`), the second its capabilities. What it is
asked by the name `fake/…` are the methods of `Fake`.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

OUTPUT = sys.stdout.buffer


def write(data: bytes) -> None:
    OUTPUT.write(data)
    OUTPUT.flush()


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    write(b"Content-Length: %d\r\n\r\n" % len(body) + body)


def read() -> dict[str, Any]:
    """Ends the program with its input."""
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    if not line:
        sys.exit(0)
    found: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return found


class Fake:
    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.answers: dict[str, list[dict[str, Any]]] = {}
        self.before: dict[str, list[dict[str, Any]]] = {}
        self.held: list[bytearray] = []

    def heard(self, method: str) -> list[Any]:
        """The parameters of all messages of a method so far."""
        return [message.get("params") for message in self.received if message.get("method") == method]

    def say(self, messages: list[dict[str, Any]], pause: float = 0.0) -> None:
        """Send messages before the answer to this, with so many seconds between them."""
        for message in messages:
            send(message)
            time.sleep(pause)

    def raw(self, text: str) -> None:
        write(text.encode())

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """What the client answers."""
        send({"id": 1, "method": method, "params": params})
        while (message := read()).get("id") != 1:
            self.received.append(message)
        return message

    def answer(self, method: str, *answers: dict[str, Any]) -> None:
        """How the next requests of a method are answered; the last one for good."""
        self.answers[method] = list(answers)

    def answer_after(self, method: str, messages: list[dict[str, Any]]) -> None:
        """Send messages before requests of a method are answered."""
        self.before[method] = messages

    def big(self, size: int) -> str:
        return "x" * size

    def grow(self, size: int) -> None:
        self.held.append(bytearray(b"x" * size))

    def exit(self, words: str) -> None:
        sys.stderr.write(words)
        sys.exit(3)

    def stop_reading(self) -> None:
        send({"method": "window/logMessage", "params": {"type": 3, "message": "reads no more"}})
        time.sleep(60)

    def silence(self) -> None:
        raise LookupError


def serve(capabilities: dict[str, Any]) -> None:
    fake = Fake()
    while True:
        message = read()
        fake.received.append(message)
        if "id" not in message:
            if message["method"] == "exit":
                return
            continue
        try:
            send({"id": message["id"], **result(fake, message, capabilities)})
        except LookupError:
            continue


def result(fake: Fake, message: dict[str, Any], capabilities: dict[str, Any]) -> dict[str, Any]:
    method = message["method"]
    if method == "initialize":
        return {"result": {"capabilities": capabilities}}
    if method.startswith("fake/"):
        done = getattr(fake, method.removeprefix("fake/"))(*json.loads(message["params"][0]))
        return {"result": json.dumps(done)}
    fake.say(fake.before.get(method, []))
    if answers := fake.answers.get(method):
        return answers.pop(0) if len(answers) > 1 else answers[0]
    return {"result": None}


def garbage() -> None:
    for number in range(1000):
        write(b"line %d of something else\n" % number)
    time.sleep(60)


def endless_line() -> None:
    write(b"x" * 50_000_000)
    time.sleep(60)


def no_headers() -> None:
    read()
    write(b'{"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}}}\n')
    time.sleep(60)


def too_long() -> None:
    write(b"Content-Length: 99999999999\r\n\r\n")
    time.sleep(60)


def exits() -> None:
    sys.exit("a part of it is missing")


def refuses() -> None:
    send({"id": read()["id"], "error": {"code": -32002, "message": "no licence"}})
    time.sleep(60)


def silent() -> None:
    time.sleep(60)


BAD = {
    "garbage": garbage,
    "endless_line": endless_line,
    "no_headers": no_headers,
    "too_long": too_long,
    "exits": exits,
    "refuses": refuses,
    "silent": silent,
}

if __name__ == "__main__":
    if bad := BAD.get(sys.argv[1]):
        bad()
    serve(json.loads(sys.argv[2]))

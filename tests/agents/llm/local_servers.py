"""Real HTTP servers on loopback that answer as the local model servers do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def serving(answers: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """A server of JSON (or raw bytes) by path; its URL and the paths that were asked. Other paths are 404."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answer = answers.get(self.path)
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(404 if answer is None else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def listing(*names: str, **more: Any) -> dict[str, Any]:
    """The answer to `GET /v1/models`."""
    return {"object": "list", "data": [{"id": name, "object": "model", **more} for name in names]}

"""A process that answers like a server of the protocol: `python -m … --hostname H --port N`.

It knows `/global/health`, `/pid` (its own), `/fall` (ends without an answer), and the password of the
environment. `STANDIN` names a way to misbehave: `fails` at the start, or `deaf` to SIGTERM.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

_CREDENTIALS = f"{os.environ['OPENCODE_SERVER_USERNAME']}:{os.environ['OPENCODE_SERVER_PASSWORD']}"
AUTHORIZATION = f"Basic {base64.b64encode(_CREDENTIALS.encode()).decode()}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.headers["authorization"] != AUTHORIZATION:
            return self._answer(401, {"name": "Unauthorized"})
        if self.path == "/fall":
            os._exit(1)
        found = {"/global/health": {"healthy": True, "version": "0"}, "/pid": os.getpid()}
        return self._answer(200, found[self.path])

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Silence."""

    def _answer(self, status: int, data: object) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hostname")
    parser.add_argument("--port", type=int)
    arguments = parser.parse_args()
    if os.environ.get("STANDIN") == "fails":
        sys.exit("the stand-in cannot begin")
    if os.environ.get("STANDIN") == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = HTTPServer((arguments.hostname, arguments.port), Handler)
    print(f"listening on http://{arguments.hostname}:{server.server_port}", file=sys.stderr)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    main()

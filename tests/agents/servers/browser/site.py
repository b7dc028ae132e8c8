"""`python site.py` serves the pages of a shop on two ports, which it says: one origin leads to the other."""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SHOP = Path(__file__).parent / "shop.html"
PAGES = {
    "/second": "<title>Second</title><h1>The second page</h1><p>Nothing <b>more</b> to see.</p>",
    "/frame": "<p>Within a frame</p><button>In the frame</button>",
    "/leaves": "<title>Leaves</title><button onclick=\"setTimeout(() => location = '/away')\">Go</button>",
    "/loads": "<title>Loads</title><img src=http://pictures.example/x.png alt=Far><p>Here</p>",
    "/spins": '<title>Spins</title><button onclick="for (;;);">Spin</button>',
    "/late": "<title>Late</title><p id=at>Early</p>"
    "<script>fetch('/slow').then(() => at.textContent = 'Late')</script>",
}


class Handler(BaseHTTPRequestHandler):
    other = 0
    held = threading.Event()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/away":
            self._answer(302, "", {"Location": f"http://localhost:{self.other}/second"})
        elif path == "/":
            self._answer(200, SHOP.read_text().replace("OTHER", f"http://localhost:{self.other}"))
        elif path == "/file":
            self._answer(200, "x", {"Content-Disposition": 'attachment; filename="prices.csv"'})
        elif path == "/slow":
            self.held.wait(0.5)
            self._answer(200, "{}")
        elif path in PAGES:
            self._answer(200, PAGES[path])
        else:
            self._answer(404, "<title>Missing</title>There is no such page.")

    def _answer(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        content = text.encode()
        self.send_response(status)
        fields = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(content))}
        for name, value in {**fields, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


class Away(Handler):
    """The other origin."""


def main() -> None:
    first = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    second = ThreadingHTTPServer(("127.0.0.1", 0), Away)
    Handler.other, Away.other = second.server_port, first.server_port
    threading.Thread(target=second.serve_forever, daemon=True).start()
    sys.stdout.write(f"{first.server_port} {second.server_port}\n")
    sys.stdout.flush()
    first.serve_forever()


if __name__ == "__main__":
    main()

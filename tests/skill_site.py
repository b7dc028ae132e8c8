"""A web server on loopback that offers one skill, as `skills.urls` names them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

SKILL = "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n"


@dataclass
class Site:
    """`pages` may be changed while it serves; `asked` are the paths of all requests."""

    url: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def offers(self, *files: str, **more: str) -> None:
        self.pages["/all/index.json"] = json.dumps({"skills": [{"name": "greet", "files": files, **more}]})


@contextmanager
def skill_site() -> Iterator[Site]:
    made = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            body = made.pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write((body or "").encode())

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = Thread(target=http.serve_forever)
        thread.start()
        made.url = f"http://127.0.0.1:{http.server_port}/all"
        made.pages |= {"/all/greet/SKILL.md": SKILL, "/all/greet/scripts/a%20b.sh": "echo hello\n"}
        made.offers("SKILL.md", "scripts/a b.sh")
        yield made
        http.shutdown()
        thread.join()

"""An export at an address, from a real server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sessions.transfer.reading import find, remote
from sessions.transfer.reading.records import Unreadable
from tests.sessions.transfer import making

EXPORT = {"info": making.session("/home/me/flows"), "messages": []}
SHARE = [
    {"type": "part", "data": making.part("02", making.PROMPT, text="second")},
    {"type": "part", "data": making.part("01", making.PROMPT, text="first")},
    {"type": "message", "data": making.prompt()},
    {"type": "model", "data": [{}]},
    {"type": "session", "data": making.session("/home/me/flows")},
]
PAGES = {
    "/export.json": json.dumps(EXPORT),
    "/api/shares/abc/data": json.dumps(SHARE),
    "/api/share/empty/data": "[]",
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = PAGES.get(self.path)
        away = self.path == "/away"
        self.send_response(302 if away else 200 if found else 404)
        if away:
            self.send_header("Location", "http://elsewhere.example/x.json")
        self.end_headers()
        self.wfile.write((found or "").encode())

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_a_file_and_a_share(server: str, tmp_path: Path) -> None:
    [source] = find.sources(remote.fetch(f"{server}/export.json", tmp_path))
    assert [header.id for header in source.headers()] == [making.SESSION]
    [source] = find.sources(remote.fetch(f"{server}/share/abc", tmp_path))
    [header] = source.headers()
    [entry] = source.read(header).entries
    assert [part["text"] for part in entry["parts"]] == ["first", "second"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/nothing.json", "status 404"),
        ("/share/none", "status 404"),
        ("/share/empty", "holds no session"),
        ("/away", "only https"),
    ],
)
def test_what_is_not_to_be_had_is_said(server: str, tmp_path: Path, path: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        remote.fetch(f"{server}{path}", tmp_path)


def test_what_is_too_large_is_not_fetched_whole(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "MAX_FILE", 10)
    with pytest.raises(Unreadable, match="larger than"):
        remote.fetch(f"{server}/export.json", tmp_path)
    assert (tmp_path / "export.json").stat().st_size <= 10


def test_an_address_that_others_can_change_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="only https"):
        remote.fetch("http://share.example/share/abc", tmp_path)

"""The server as a process of its own: what it says, whom it lets in over real sockets, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

Start = Callable[..., "Server"]


class Server:
    """A running process and the launch link it printed."""

    def __init__(self, home: Path, address: str = "127.0.0.1", behaviour: str = "ends") -> None:
        self.home = home
        self.environ = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
        argv = [sys.executable, "-m", "tests.opencode_web.cli.app", address, behaviour]
        self.process = subprocess.Popen(
            argv, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().strip()
        self.base = self.link.partition("/auth/")[0]

    @property
    def bearer(self) -> dict[str, str]:
        secret = (self.home / "data/opencode-web/secret").read_text()
        return {"Authorization": f"Bearer {secret}"}

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """The exit status and everything on standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    servers: list[Server] = []

    def run(**options: str) -> Server:
        servers.append(Server(tmp_path, **options))
        return servers[-1]

    yield run
    for server in servers:
        server.process.kill()
        server.process.communicate()


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_the_launch_link_opens_a_browser_session(start: Start, address: str) -> None:
    server = start(address=address)
    with httpx.Client() as browser:
        assert browser.get(f"{server.base}/").status_code == 401
        assert browser.get(server.link).headers["location"] == "/"
        assert browser.get(f"{server.base}/").status_code == 200


def test_rule_1_a_root_path_header_is_no_way_around(start: Start) -> None:
    server = start()
    hidden = {"Daphne-Root-Path": "/static"}
    answer = httpx.get(f"{server.base}/static/session", headers=hidden)
    assert answer.json()["root_path"] == ""
    assert httpx.get(f"{server.base}/session", headers=hidden).status_code == 401


def test_sockets_are_opened_to_the_right_ones_and_refused_before_the_handshake(start: Start) -> None:
    server = start()
    address = server.base.replace("http", "ws") + "/ws"
    with connect(address, additional_headers=server.bearer, max_size=None) as socket:
        socket.send("x" * 2_000_000)
        assert len(socket.recv()) == 2_000_000
    for headers in ({}, {**server.bearer, "Origin": "https://evil.example"}):
        with pytest.raises(InvalidStatus) as caught:
            connect(address, additional_headers=headers)
        assert caught.value.response.status_code == 403


def test_the_url_command_prints_a_link_that_works(start: Start) -> None:
    server = start()
    port = server.base.rpartition(":")[2]
    argv = [sys.executable, "-m", "opencode_web", "url", "--port", port]
    asked = subprocess.run(argv, env=server.environ, capture_output=True, text=True, check=True)
    assert httpx.get(asked.stdout.strip()).headers["location"] == "/"
    environ = {**server.environ, "OPENCODE_SERVER_PASSWORD": "another"}
    refused = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "another password" in refused.stderr


def test_rule_2_no_secret_reaches_the_log(start: Start) -> None:
    server = start()
    httpx.get(server.link)
    httpx.get(f"{server.base}/evil%1b[31m%0aline", headers=server.bearer)
    secrets = [*parse_qs(urlsplit(server.link).query)["token"], server.bearer["Authorization"][7:]]
    _, errors = server.end()
    log = server.home / "data/opencode-web/log/opencode-web.log"
    assert "GET /auth/launch 303" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    for text in (errors, log.read_text()):
        assert "\x1b" not in text
        assert not any(secret in text for secret in secrets)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_after_the_shutdown_hook(start: Start, number: signal.Signals) -> None:
    server = start()
    with connect(server.base.replace("http", "ws") + "/ws", additional_headers=server.bearer):
        status, _ = server.end(number)
    assert status == 0
    assert (server.home / "shut-down").read_text() == "saved"


@pytest.mark.long
def test_a_shutdown_that_never_ends_is_cut_short(start: Start) -> None:
    """Both at once, since each takes the seconds that it is given."""
    servers = [start(behaviour="hangs"), start(behaviour="blocks")]
    with ThreadPoolExecutor() as threads:
        (hung, of_hung), (blocked, of_blocked) = threads.map(Server.end, servers)
    assert (hung, blocked) == (0, 1)
    assert "cut short" in of_hung
    assert "work still running" in of_blocked


def test_a_failed_start_ends_the_process(start: Start) -> None:
    server = start(behaviour="fails")
    assert server.link == ""
    _, errors = server.process.communicate(timeout=30)
    assert server.process.returncode == 1
    assert "cannot begin" in errors

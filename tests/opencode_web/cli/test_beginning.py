"""A person's start: the server listens before all of it is loaded."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import httpx
import pytest

from tests.runtime.conftest import home, project
from tests.server import PASSWORD, PATIENCE, Process, Server

__all__ = ["home", "project"]


def begun(server: Server) -> Process:
    """Returns when it listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server.url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    server.data.mkdir(mode=0o700, parents=True)
    port = server.url.rpartition(":")[2]
    process = server.run("serve", str(server.project), "--port", port, "--print-logs")
    while process.poll() is None:
        try:
            answer = httpx.get(f"{server.url}/global/health", auth=("opencode", PASSWORD), timeout=PATIENCE)
        except httpx.ConnectError:
            os.sched_yield()
        else:
            assert answer.json()["healthy"]
            return process
    raise AssertionError(server.log())


def test_whatever_is_asked_first_is_answered(home: Path, project: Path) -> None:
    """A page, a list and a file, each at once with the others."""
    server = Server(home, project, anew=True)
    server.process = begun(server)
    with httpx.Client(auth=("opencode", PASSWORD), timeout=PATIENCE, base_url=server.url) as client:
        answers = [client.get(path) for path in ("/", "/session", "/favicon.ico", "/nothing/here")]
    assert [answer.status_code for answer in answers] == [302, 200, 200, 404]
    assert httpx.get(f"{server.url}/session", timeout=PATIENCE).status_code == 401
    assert server.stop() == 0, server.log()


@pytest.mark.parametrize("after", ["listening", "loaded"])
def test_a_signal_ends_it_however_far_it_is(home: Path, project: Path, after: str) -> None:
    server = Server(home, project, anew=True)
    server.process = begun(server)
    if after == "loaded":
        answer = httpx.get(f"{server.url}/session", auth=("opencode", PASSWORD), timeout=PATIENCE)
        assert answer.status_code == 200
    assert server.stop() == 0, server.log()
    assert "Traceback" not in server.log()

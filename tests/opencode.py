"""OpenCode's program and its SDK from npm: servers and clients that nobody here wrote.

Where npm cannot get them, the tests that want them are skipped and say so.
"""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.npm import NotInstalled, installed
from bench.targets import OPENCODE_VERSION, STAY_OFFLINE, install_opencode, isolated


def program(environ: Mapping[str, str]) -> Path:
    """The path of `opencode`; skips without it. `environ` is the user's."""
    try:
        return install_opencode(environ)
    except NotInstalled as error:
        pytest.skip(f"OpenCode could not be installed: {error}")


def sdk(environ: Mapping[str, str]) -> Path:
    """The `node_modules` with `@opencode-ai/sdk`; skips without it."""
    try:
        return installed("@opencode-ai/sdk", OPENCODE_VERSION, environ)
    except NotInstalled as error:
        pytest.skip(f"OpenCode's SDK could not be installed: {error}")


def bridge(environ: Mapping[str, str]) -> Path:
    """The `node_modules` with a third party's provider for the AI SDK; skips without it."""
    try:
        return installed("ai-sdk-provider-opencode-sdk", "3.0.6", environ, "ai@6.0.326")
    except NotInstalled as error:
        pytest.skip(f"ai-sdk-provider-opencode-sdk could not be installed: {error}")


def openchamber(environ: Mapping[str, str]) -> Path:
    """The `node_modules` with OpenChamber; skips without it."""
    try:
        return installed("@openchamber/web", "1.18.0", environ)
    except NotInstalled as error:
        pytest.skip(f"OpenChamber could not be installed, so nothing is known of it: {error}")


@contextmanager
def serving(program: Path, home: Path, environ: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of an OpenCode server that listens, without a password; ended afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home.mkdir(exist_ok=True)
    command = [str(program), "serve", "--port", str(port), "--hostname", "127.0.0.1"]
    server = subprocess.Popen(
        command, cwd=home, env={**environment(home), **(environ or {})}, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        assert any("listening" in line for line in server.stdout), "OpenCode ended without listening"
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:  # its end waits for work that does not end
            server.kill()
            server.wait()


def environment(home: Path, password: str = "", config: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What `opencode` is started with: nothing of the tester's, nothing fetched."""
    given = {"OPENCODE_CONFIG_CONTENT": json.dumps(config)} if config else {}
    secret = {"OPENCODE_SERVER_PASSWORD": password} if password else {}
    return {**isolated(home), **dict.fromkeys(STAY_OFFLINE, "1"), **given, **secret}

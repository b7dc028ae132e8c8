"""`opencode-web service`: what is written for systemd and launchd, and that what it starts is the server."""

from __future__ import annotations

import os
import plistlib
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from opencode_web.cli.commands.service import launchd, systemd
from tests.opencode_web.cli.systemctl import PID
from tests.server import PASSWORD, ROOT, Server

COMMAND = ["/opt/my env/bin/python", "-m", "opencode_web", "serve", '/home/me/a "b" 100% $HOME']


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """With a `systemctl` that starts what a unit says."""
    for name in ("home", "project", "bin", "started"):
        (tmp_path / name).mkdir()
    program = tmp_path / "bin" / "systemctl"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/tests/opencode_web/cli/systemctl.py "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    environ = {"PATH": path, "FAKE_SYSTEMCTL": str(tmp_path / "started"), "PYTHONPATH": str(ROOT)}
    yield Server(tmp_path / "home", tmp_path / "project", environ=environ, anew=True)
    with suppress(OSError, ValueError):
        os.kill(int((tmp_path / "started" / PID).read_text()), signal.SIGKILL)


def unit(server: Server) -> Path:
    return server.home / ".config" / "systemd" / "user" / "opencode-web.service"


def port() -> str:
    from opencode_web.site.server import find_port

    return str(find_port("127.0.0.1", 0))


def test_it_is_installed_answers_and_is_removed(server: Server, tmp_path: Path) -> None:
    done = server.command("service", "install", str(server.project), "--port", port())
    assert done.returncode == 0, done.stderr
    link = done.stdout.split("Open ")[1].strip()
    assert "/auth/launch?token=" in link
    assert f"serve {server.project} --port" in unit(server).read_text()
    assert PASSWORD not in unit(server).read_text()
    environment = server.data / "service.environment"
    assert PASSWORD in environment.read_text()
    assert stat.S_IMODE(environment.stat().st_mode) == 0o600
    calls = (tmp_path / "started" / "calls").read_text().splitlines()
    unit_name = "opencode-web.service"
    assert calls == [
        f"--user {act}" for act in ("daemon-reload", f"enable {unit_name}", f"restart {unit_name}")
    ]
    assert server.command("service", "status").returncode == 0

    done = server.command("service", "remove")
    assert done.returncode == 0, done.stderr
    assert not unit(server).exists()
    assert not environment.exists()
    assert server.command("service", "status").returncode == 1


def test_beside_a_server_that_runs_it_is_refused(server: Server) -> None:
    server.start()
    try:
        done = server.command("service", "install")
    finally:
        server.stop()
    assert done.returncode == 1
    assert "runs already" in done.stderr
    assert not unit(server).exists()


def test_what_would_be_written_is_shown_without_secrets(server: Server) -> None:
    environ = {"ACME_API_KEY": "very-secret"}
    done = server.command("service", "install", "--show", "--env", "ACME_API_KEY", environ=environ)
    assert done.returncode == 0, done.stderr
    assert 'ACME_API_KEY="…"' in done.stdout
    assert "very-secret" not in done.stdout
    assert PASSWORD not in done.stdout
    assert not unit(server).exists()
    assert "is not set here" in server.command("service", "install", "--env", "NOT_THERE").stderr


def test_a_unit_of_systemd_has_its_words_whole(tmp_path: Path) -> None:
    made = systemd(COMMAND, {"A": 'x"y $z \\ `w`'}, tmp_path)
    (environment, text) = made.files.values()
    assert environment == 'A="x\\"y \\$z \\\\ \\`w\\`"\n'
    words = '"/opt/my env/bin/python" -m opencode_web serve "/home/me/a \\"b\\" 100%% $$HOME"'
    assert f"ExecStart={words}\n" in text
    checker = shutil.which("systemd-analyze")
    if checker is not None:
        file = tmp_path / "opencode-web.service"
        file.write_text(text.replace("/opt/my env/bin/python", "/bin/true"))
        command = [checker, "verify", "--user", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "opencode-web.service" not in done.stderr, done.stderr


def test_an_agent_of_launchd_has_them_too(tmp_path: Path) -> None:
    made = launchd(COMMAND, {"A": "b"}, tmp_path, 501)
    ((file, text),) = made.files.items()
    agent = plistlib.loads(text.encode())
    assert file == tmp_path / "Library" / "LaunchAgents" / "opencode-web.plist"
    assert agent["ProgramArguments"] == COMMAND
    assert agent["EnvironmentVariables"] == {"A": "b"}
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert made.start == [("launchctl", "bootstrap", "gui/501", str(file))]
    assert made.end == [("launchctl", "bootout", "gui/501/opencode-web")]

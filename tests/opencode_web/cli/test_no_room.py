"""A home that cannot be written, or is full, is a sentence of each command and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.server import ROOT

COMMANDS = (
    "serve --port 0",
    "url",
    "models",
    "session list",
    "stats",
    "agent list",
    "auth list",
    "debug paths",
    "mcp list",
    "run hello",
    "export ses_1",
    "import --dry-run",
    "manage check",
    "doctor",
    "backup elsewhere",
)
FEW = ("serve --port 0", "session list", "run hello", "backup elsewhere")
"""A server, a reader, a client and a writer: the others are tried with the long tests."""
READ_ONLY = 'mount -t tmpfs -o ro,mode=700 tmpfs "$HOME"'
FULL = 'mount -t tmpfs -o size=16k,mode=700 tmpfs "$HOME"; head -c 1m /dev/zero > "$HOME/filled" 2>/dev/null'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    allowed = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", tmp_path / "home"], check=False
    )
    if allowed.returncode:
        pytest.skip("no mount namespace may be made here: a home that is full or read-only was not tried")
    return tmp_path / "home"


def begin(home: Path, mount: str, commands: Sequence[str]) -> dict[str, subprocess.Popen[str]]:
    """All at once, each with a home of its own."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT)}
    return {
        command: subprocess.Popen(
            [
                "unshare",
                "-rm",
                "sh",
                "-c",
                f'{mount}; exec "$@"',
                "sh",
                sys.executable,
                "-m",
                "opencode_web",
                *command.split(),
            ],
            cwd=home,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for command in commands
    }


@pytest.mark.parametrize(
    ("mount", "commands"),
    [
        pytest.param(READ_ONLY, FEW, id="read-only"),
        pytest.param(
            READ_ONLY, [name for name in COMMANDS if name not in FEW], id="the rest", marks=pytest.mark.long
        ),
        pytest.param(FULL, COMMANDS[:4], id="full"),
    ],
)
def test_no_command_shows_a_traceback(home: Path, mount: str, commands: Sequence[str]) -> None:
    for command, process in begin(home, mount, commands).items():
        output, said = process.communicate()
        last = said.strip().splitlines()[-1:]
        assert process.returncode == 1, (command, output, said)
        assert "Traceback" not in said, (command, said)
        assert last, command
        assert last[0].startswith("opencode-web: "), (command, said)

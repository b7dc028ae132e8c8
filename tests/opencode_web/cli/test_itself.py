"""Started in a project that has modules by the names of ours, of Python's and of libraries."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from opencode_web.bridge.remote.client import Address
from opencode_web.bridge.remote.launcher import Launcher, Wanted
from opencode_web.itself import ITSELF
from tests.server import NOWHERE, ROOT

NAMES = (
    "agents",
    "sessions",
    "tests",
    "secrets",
    "calendar",
    "sqlite3",
    "yaml",
    "django",
    "litellm",
    "httpx",
)


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What such a module writes when it is imported; this process is in the project."""
    project, ran = tmp_path / "project", tmp_path / "ran"
    project.mkdir()
    for name in NAMES:
        (project / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write('{name} ')\n")
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(project)
    return ran


@pytest.mark.parametrize("command", [(sys.executable, "-m", "opencode_web"), ITSELF])
def test_none_of_them_is_imported(ran: Path, command: tuple[str, ...]) -> None:
    subprocess.run([*command, "debug", "info"], check=True, capture_output=True)
    assert not ran.exists(), ran.read_text()


async def test_nor_by_a_server_that_is_started(ran: Path) -> None:
    launcher = Launcher(Wanted(None, Address(NOWHERE)))
    try:
        await launcher.find()
    finally:
        await launcher.close()
    assert not ran.exists(), ran.read_text()

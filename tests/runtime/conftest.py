from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import programs


@pytest.fixture(scope="session")
def everything(user_environ: Mapping[str, str]) -> dict[str, Any]:
    """An MCP server that has all there is in the protocol, as the configuration names it."""
    return programs.everything(user_environ)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


def repository(path: Path) -> Path:
    """A real git repository with one commit."""
    path.mkdir()
    (path / "hello.py").write_text("def hello():\n    return 'hello'\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=path, check=True)
    return path

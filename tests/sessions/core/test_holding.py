"""Who has the data folder."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from sessions.core import holding


def test_a_lock_that_a_killed_server_leaves_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = os.open(tmp_path / "server.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(left, fcntl.LOCK_EX)
    monkeypatch.setattr(time, "sleep", lambda _: os.close(left))
    monkeypatch.setattr(holding, "_held", [])
    holding.hold(tmp_path, "the next", {})
    (file,) = holding._held
    assert os.pread(file, 100, 0) == b"the next\n"
    os.close(file)

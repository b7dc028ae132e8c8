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
    assert os.pread(file, 100, 0) == b"the next\n\n"
    os.close(file)


def test_the_server_that_has_a_folder_is_found_and_one_that_ended_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "_held", [])
    assert holding.server(tmp_path) == ""
    holding.hold(tmp_path, "a server", {}, "http://127.0.0.1:8300")
    assert holding.server(tmp_path) == "http://127.0.0.1:8300"
    monkeypatch.setattr(holding, "PATIENCE", 0.0)
    with pytest.raises(holding.Held, match="a server already uses") as refused:
        holding.hold(tmp_path, "another", {}, "http://127.0.0.1:8301")
    assert refused.value.url == "http://127.0.0.1:8300"
    (file,) = holding._held
    os.close(file)
    assert holding.server(tmp_path) == ""

"""git that takes longer than its caller can wait."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions.core.git import GitError, run_git


def test_git_is_ended_when_its_time_is_up(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(GitError, match=r"took longer than 0\.5 seconds"):
        run_git(["hash-object", str(pipe)], seconds=0.5)
    with pytest.raises(OSError, match="No such device"):  # nobody reads it any more
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)

"""What a machine does not give is said, and done without."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import psutil  # noqa: F401  it is made for the machine that it is loaded on
import pytest

from sessions.core.files import replace_file
from sessions.core.platform import inotify
from sessions.core.platform.limits import limits
from tests.bare import hidden, refusal
from tests.server import ROOT

WRITE = """
import pathlib, sys
from sessions.core.files import replace_file
replace_file(pathlib.Path(sys.argv[1]), b"x")
"""


hiding = pytest.mark.skipif(bool(refusal()), reason=f"not run {refusal()}")


@pytest.mark.proc
def test_nothing_is_lacking_here() -> None:
    assert limits() == ()


@hiding
def test_without_proc_it_is_said(tmp_path: Path) -> None:
    command = hidden([sys.executable, "-m", "opencode_web", "debug", "info"])
    told = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Other processes cannot be seen" in told.stdout


def test_on_a_mac_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert any("does not tell of changed files (inotify is Linux's)" in limit for limit in limits())


def test_all_instances_taken_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(inotify._queue, "_open", taken)
    assert any("(Too many open files)" in limit for limit in limits())


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        replace_file(tmp_path / "new", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == mode


@hiding
def test_a_new_file_without_proc(tmp_path: Path) -> None:
    subprocess.run(hidden([sys.executable, "-c", WRITE, str(tmp_path / "new")]), cwd=ROOT, check=True)
    assert (tmp_path / "new").read_bytes() == b"x"

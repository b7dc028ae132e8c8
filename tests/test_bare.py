"""A few tests of each room once more on a machine that has no /proc; `make test-long` runs them all so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bare import hidden, refusal
from tests.conftest import USER_ENVIRON

ROOT = Path(__file__).resolve().parent.parent
TRIED = [
    *sorted((ROOT / "tests/sessions/core/platform").glob("test_*.py")),
    *sorted((ROOT / "tests/sessions/changes/snapshots").glob("test_*.py")),
    *(
        ROOT / "tests/sessions/changes/undo" / f"test_{name}.py"
        for name in ("commands", "files", "merge", "undo", "whole_histories")
    ),
    ROOT / "tests/sessions/changes/test_tracking.py",
    ROOT / "tests/runtime/test_stops.py",
    ROOT / "tests/runtime/test_leases.py",
]


@pytest.mark.skipif(bool(refusal()), reason=refusal())
def test_without_proc() -> None:
    command = [sys.executable, "-m", "pytest", "-m", "not long", "-p", "no:cacheprovider", *map(str, TRIED)]
    done = subprocess.run(
        hidden(command), cwd=ROOT, env=USER_ENVIRON, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert " passed" in done.stdout

"""What failed is tried once more, alone, and named by what came of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = """
import pytest
from pathlib import Path

def test_sound():
    pass

def test_false():
    two = 2
    assert two == 3

def test_unsteady():
    before = Path("ran")
    ran = before.exists()
    before.touch()
    assert ran

@pytest.fixture
def broken():
    raise OSError("no such thing")

def test_without_its_fixture(broken):
    pass

@pytest.mark.skip(reason="not here")
@pytest.mark.parametrize("number", range(3))
def test_skipped(number):
    pass
"""


def run(folder: Path, tests: str, *arguments: str) -> tuple[int, list[str]]:
    (folder / "tests").mkdir()
    (folder / "tests/test_it.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "xdist", "-p", "tests.retry", *arguments]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("workers", ["0", "2"])
def test_each_is_named_for_what_came_of_it(tmp_path: Path, workers: str) -> None:
    status, lines = run(tmp_path, TESTS, "-n", workers)
    assert status == 1
    start = lines.index("FAILED tests/test_it.py::test_false - tests/test_it.py:10: assert 2 == 3")
    assert lines[start + 1 : start + 3] == [
        "ERROR tests/test_it.py::test_without_its_fixture - tests/test_it.py:20: OSError: no such thing",
        "UNSTEADY tests/test_it.py::test_unsteady - tests/test_it.py:16: assert False",
    ]
    assert [line for line in lines[start + 3 :] if line.startswith("SKIPPED [3]")]
    assert lines[-1].startswith("1 failed, 1 passed, 3 skipped, 1 error, 1 unsteady in ")
    assert sum(">       assert two == 3" in line for line in lines) == 1
    assert sum(">       assert ran" in line for line in lines) == 1
    assert lines.index(">       assert ran") < start


def test_a_run_with_nothing_but_unsteady_ones_passes(tmp_path: Path) -> None:
    status, lines = run(tmp_path, TESTS, "-k", "sound or unsteady")
    assert status == 0
    assert lines[-1].startswith("1 passed, 5 deselected, 1 unsteady in ")


def test_what_all_share_is_not_tried_again(tmp_path: Path) -> None:
    many = "import pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_all(n): assert n < 0"
    status, lines = run(tmp_path, many)
    assert status == 1
    assert any("too many" in line for line in lines)
    assert lines[-1].startswith("40 failed in ")

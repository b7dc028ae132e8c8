"""What other programs see of a process of ours: as another user with no privileges where this one is root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SECRET = "a-very-secret-word"
NOBODY = 65534

pytestmark = pytest.mark.proc

PROGRAM = """
import ctypes, os, subprocess, sys
_, root, user, withdraws, _, secret = sys.argv
sys.path.insert(0, root)
from sessions.core.platform.privacy import withdraw
if int(user):
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as a process that had this user from its start
if withdraws == "yes":
    withdraw(arguments=[secret])
inherited = subprocess.run(["sh", "-c", 'echo "$OPENCODE_SERVER_PASSWORD"'], capture_output=True, text=True)
print(os.environ["OPENCODE_SERVER_PASSWORD"], os.environ["REDIS_URL"], inherited.stdout.strip(), flush=True)
sys.stdin.read()
"""


@contextmanager
def running(user: int = 0, withdraws: str = "yes") -> Iterator[tuple[int, list[str]]]:
    """Its number, and what it knows itself."""
    secrets = {"OPENCODE_SERVER_PASSWORD": SECRET, "REDIS_URL": SECRET}
    argv = [sys.executable, "-c", PROGRAM, str(ROOT), str(user), withdraws, "--password", SECRET]
    with subprocess.Popen(
        argv,
        env={"PATH": os.environ["PATH"], "KEPT": "yes", **secrets},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.pid, process.stdout.readline().split()
        process.stdin.close()


def test_secrets_stand_neither_in_the_environment_nor_in_the_arguments() -> None:
    with running() as (pid, known):
        assert known == [SECRET, SECRET, SECRET]  # the program itself goes on having them
        for name in ("environ", "cmdline"):
            try:
                shown = Path(f"/proc/{pid}/{name}").read_bytes()
            except PermissionError:  # not root: it is not shown at all
                assert os.geteuid()
                continue
            assert SECRET.encode() not in shown
            assert b"KEPT=yes" in shown or name == "cmdline"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts programs as another user")
@pytest.mark.parametrize("name", ["environ", "fd/0", "maps"])
def test_a_program_of_the_same_user_cannot_look_into_it(name: str) -> None:
    assert "Permission denied" not in looked_into(name, "no")
    assert "Permission denied" in looked_into(name, "yes")


def looked_into(name: str, withdraws: str) -> str:
    """What a program says that reads a file of the other's in /proc, neither being root."""
    with running(NOBODY, withdraws) as (pid, known):
        assert known == [SECRET, SECRET, SECRET]
        command = (
            ["ls", "-l", f"/proc/{pid}/{name}"] if name == "fd/0" else ["head", "-c1", f"/proc/{pid}/{name}"]
        )
        done = subprocess.run(
            command, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True, check=False
        )
        return done.stderr

"""Started in the background by a script, and by nohup: signals come ignored, or blocked."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.server import ROOT

IGNORED = """
import signal
wanted = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGCHLD, signal.SIGTERM)
print(*[number.name for number in wanted if signal.getsignal(number) is signal.SIG_IGN])
"""
PROGRAM = f"""
import signal, subprocess, sys
from sessions.core.platform import signals
signals.reset()
print(subprocess.check_output([sys.executable, "-c", {IGNORED!r}], text=True).strip())
for name in sys.argv[1:]:
    signal.raise_signal(signal.Signals[name])
    print(name)
"""
BACKGROUND = ["sh", "-c", "trap '' INT QUIT HUP CHLD TERM; exec \"$@\"", "-", sys.executable, "-c"]
BLOCKED = f"""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.execv({sys.executable!r}, [{sys.executable!r}, "-c", {PROGRAM!r}, "SIGINT"])
"""


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_program_inherits_what_a_script_ignores() -> None:
    """Else the other tests say nothing."""
    assert {"SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"} <= set(run(*BACKGROUND, IGNORED).stdout.split())


def test_children_get_the_defaults_and_nohup_holds() -> None:
    done = run(*BACKGROUND, PROGRAM, "SIGHUP", "SIGQUIT", "SIGTERM")
    assert done.stdout.splitlines() == ["", "SIGHUP", "SIGQUIT", "SIGTERM"], done.stderr


def test_an_interrupt_interrupts() -> None:
    assert run(*BACKGROUND, PROGRAM, "SIGINT").returncode == -signal.SIGINT


def test_no_signal_stays_blocked() -> None:
    assert run(sys.executable, "-c", BLOCKED).returncode == -signal.SIGINT

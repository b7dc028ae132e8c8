"""Ends our children when we are killed (the other half: `warden_process.py`)."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from pathlib import Path

_PROGRAM = Path(__file__).with_name("warden_process.py")


class Warden:
    """Methods may be called from any thread. A warden that was killed is replaced at the next call, and told
    again of all groups."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def watch(self, group: int) -> None:
        """End this process group when this program is gone; the first call starts the warden."""
        with self._lock:
            self._groups.add(group)
            if self._process is None or self._process.poll() is not None or not self._tell(f"+{group}"):
                self._start()

    def forget(self, group: int) -> None:
        """The group has ended: its number may be given to a stranger."""
        with self._lock:
            self._groups.discard(group)
            self._tell(f"-{group}")

    def _start(self) -> None:
        argv = [sys.executable, "-I", "-S", str(_PROGRAM)]
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for group in self._groups:
            self._tell(f"+{group}")

    def _tell(self, line: str) -> bool:
        if self._process is None or self._process.stdin is None:
            return False
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
            return True
        return False


warden = Warden()

"""Ends our children when we are killed (the other half: `warden_process.py`)."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_PROGRAM = """
import sys
sys.path += sys.argv[1:]
from agents.toolkit.children.warden_process import main
main()
"""


class Warden:
    """Methods may be called from any thread. A warden that was killed is replaced at the next call, and told
    again of all trees."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._marks: dict[int, str] = {}

    def watch(self, pid: int, mark: str = "") -> None:
        """End a child and all that has its mark, or else all of its session (`tree.py`), when this program is
        gone. The first call starts the warden."""
        with self._lock:
            self._marks[pid] = mark
            gone = self._process is None or self._process.poll() is not None
            if gone or not self._tell(f"+{pid} {mark}"):
                self._start()

    def forget(self, pid: int) -> None:
        """It has ended: its number may be given to a stranger."""
        with self._lock:
            self._marks.pop(pid, None)
            self._tell(f"-{pid}")

    def _start(self) -> None:
        import psutil  # 20 ms: not before the first child

        # Neither the user's site-packages nor the working folder counts for it.
        paths = [_ROOT, Path(psutil.__file__).parent.parent]
        argv = [sys.executable, "-I", "-S", "-c", _PROGRAM, *map(str, paths)]
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for pid, mark in self._marks.items():
            self._tell(f"+{pid} {mark}")

    def _tell(self, line: str) -> bool:
        if self._process is None or self._process.stdin is None:
            return False
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
            return True
        return False


warden = Warden()

"""A program in a terminal that tests read and type into: tmux, with a server of its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE = 40.0
POLL = 0.1


class Terminal:
    """`socket` names tmux's own server, so that nobody else's is met."""

    def __init__(self, tmux: str, socket: Path) -> None:
        self._tmux = [tmux, "-S", str(socket), "-f", os.devnull]

    def start(self, command: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> None:
        size = ["-x", "140", "-y", "45"]
        given = [f"-e{name}={value}" for name, value in environ.items()]
        self._run("new-session", "-d", *size, "-c", str(cwd), *given, *command)

    def type(self, text: str) -> None:
        self._run("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """By tmux's names: Enter, Escape, C-p."""
        self._run("send-keys", *keys)

    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    async def shows(self, *texts: str) -> str:
        """The screen once it has all texts. There is no event of it, so it is looked at again and again."""
        return await self._until(lambda screen: all(text in screen for text in texts), f"{texts} to appear")

    async def hides(self, text: str) -> str:
        return await self._until(lambda screen: text not in screen, f"{text!r} to go")

    async def _until(self, true: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + PATIENCE
        while not true(screen := await asyncio.to_thread(self.screen)):
            if time.monotonic() > deadline:
                raise AssertionError(f"waited for {what} on:\n{screen}")
            await asyncio.sleep(POLL)
        return screen

    def stop(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._tmux, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"tmux {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

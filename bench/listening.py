"""A process that says where it listens, from its start to its end."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import proc

START_SECONDS = 60
POLL_SECONDS = 0.004
LISTENING = re.compile(rb"listening on (http://\S+)\s")


class NotRunning(Exception):
    """The process ended or did not answer; the text has the end of what it printed."""


@dataclass(frozen=True, slots=True)
class Listening:
    """`began` is `time.perf_counter()` just before the process was started."""

    url: str
    pid: int
    began: float


@asynccontextmanager
async def listening(
    command: Sequence[str], folder: Path, environ: Mapping[str, str], log: Path
) -> AsyncIterator[Listening]:
    """Start a command that prints `listening on URL`, and end it with the block, whatever happens."""
    began = time.perf_counter()
    process = _start(command, folder, environ, log)
    try:
        yield Listening(await _url(process, log), process.pid, began)
    finally:
        proc.end(process)


def _start(
    command: Sequence[str], folder: Path, environ: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )


async def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None:
        if url := _printed_url(log):
            return url
        if time.monotonic() > deadline:
            raise NotRunning(f"does not listen after {START_SECONDS} s: {_end_of(log)}")
        await asyncio.sleep(POLL_SECONDS)
    raise NotRunning(f"ended with {process.returncode}: {_end_of(log)}")


def _printed_url(log: Path) -> str:
    match = LISTENING.search(log.read_bytes())
    return match[1].decode() if match else ""


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-500:]

"""Terminals of tests: real programs on real pseudo terminals."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sessions.terminals.registry import Registry
from sessions.terminals.shapes import PtyCreate
from sessions.terminals.terminal import Reader, Terminal

PATIENCE = 20
"""Seconds that anything may take; never waited for in a good run."""


@asynccontextmanager
async def registry() -> AsyncIterator[Registry]:
    """Terminals of their own; all end with the block."""
    made = Registry()
    try:
        yield made
    finally:
        await made.close()


async def python(terminals: Registry, folder: Path, script: str, **given: str) -> Terminal:
    """A terminal with a Python program in it."""
    wanted = PtyCreate(command=sys.executable, args=["-u", "-c", script], env=given or None)
    return await terminals.open("project", folder, wanted)


async def shell(terminals: Registry, folder: Path, line: str, **given: str) -> Terminal:
    """A terminal with a line of the shell in it."""
    return await terminals.open(
        "project", folder, PtyCreate(command="/bin/sh", args=["-c", line], env=given or None)
    )


async def all_of(terminal: Terminal) -> str:
    """What a reader gets that reads until the end."""
    async with asyncio.timeout(PATIENCE):
        with Reader(terminal, None) as reader:
            return "".join(reader.replay()) + "".join([text async for text, _ in reader.follow()])


async def until(terminal: Terminal, wanted: str) -> str:
    """What was printed once it has the wanted text."""
    text = ""
    async with asyncio.timeout(PATIENCE):
        with Reader(terminal, None) as reader:
            for text in reader.replay():
                if wanted in text:
                    return text
            async for more, _ in reader.follow():
                text += more
                if wanted in text:
                    return text
    raise AssertionError(f"the terminal ended without {wanted!r}: {text[-500:]!r}")


def is_running(process: int) -> bool:
    """Whether a process is there and is no zombie (proc(5))."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state != b"Z"

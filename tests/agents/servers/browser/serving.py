"""The shop of `site.py`, served by a program of its own: ports of a test are ports of this program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

SITE = Path(__file__).parent / "site.py"


@dataclass(frozen=True, slots=True)
class Shop:
    """Two origins of one program."""

    url: str
    other: str


@asynccontextmanager
async def serving() -> AsyncIterator[Shop]:
    program = await asyncio.create_subprocess_exec(sys.executable, str(SITE), stdout=asyncio.subprocess.PIPE)
    assert program.stdout is not None
    first, second = (await program.stdout.readline()).decode().split()
    try:
        yield Shop(f"http://localhost:{first}", f"http://localhost:{second}")
    finally:
        program.kill()
        await program.wait()

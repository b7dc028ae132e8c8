"""Finding and running ripgrep: records of its output, up to a limit, a time and the session's stop."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.toolkit.base import ToolContext, ToolError
from agents.toolkit.file_names import printable
from agents.toolkit.shared.paths import explained
from sessions.project import search

TIMEOUT_SECONDS = 30
MAX_RECORD = 4 * 1024 * 1024
"""Bytes of one record that are kept; a match in a line of many megabytes is not."""
CHUNK = 256 * 1024
NOISE = (
    ".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".tox", ".next", ".idea", ".DS_Store",
)  # fmt: skip
COMMON = ("--no-config", "--no-messages", "--hidden", "--no-require-git", "--color=never")
FAILED = 2

Keep = Callable[[bytes], bool]
"""Is given every record in order."""


@dataclass(frozen=True, slots=True)
class Records:
    """What ripgrep printed, split; `more` if it had more to say, `late` if time ran out."""

    found: list[bytes]
    more: bool = False
    late: bool = False


def binary() -> str:
    """The program of this environment, else of PATH. Raises ToolError when there is none."""
    try:
        return search.binary()
    except search.SearchFailed as error:
        raise ToolError(f"{error} Files cannot be searched; use the shell instead.") from error


def excluding(names: Sequence[str] = NOISE) -> list[str]:
    """Options that leave out folders nobody means; after other globs, as later ones win."""
    return [f"--glob=!**/{name}" for name in names]


async def run(
    ctx: ToolContext,
    arguments: Sequence[str],
    *,
    cwd: Path,
    separator: bytes,
    limit: int,
    keep: Keep | None = None,
) -> Records:
    """Run `rg` with these arguments in `cwd` and take the first `limit` records, of those to `keep`.

    It is ended at the limit, after 30 s, and when the session is stopped or the call cancelled.
    Raises ToolError with ripgrep's own words for a bad pattern, and when it was stopped.
    """
    with tempfile.TemporaryFile() as errors, explained(printable(str(cwd))):
        process = await asyncio.create_subprocess_exec(
            binary(), *COMMON, *arguments, cwd=cwd, stdin=DEVNULL, stdout=PIPE, stderr=errors
        )
        try:
            records = await _until_stopped(ctx, process, _Reader(separator, limit, keep))
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                # Not wait(): it hangs while there is output that nobody reads.
                await process.communicate()
        if process.returncode == FAILED and not records.found:
            errors.seek(0)
            if words := errors.read(4000).decode("utf-8", "replace").strip():
                raise ToolError(f"The search failed: {words}")
        return records


class _Reader:
    """Splits a stream into records while it comes, holding one record at most."""

    def __init__(self, separator: bytes, limit: int, keep: Keep | None) -> None:
        self.separator, self.limit, self.keep = separator, limit, keep
        self.found: list[bytes] = []
        self.partial = bytearray()

    async def read(self, stream: asyncio.StreamReader) -> bool:
        """Read to the end (True) or beyond the limit (False)."""
        while len(self.found) <= self.limit:
            if not (chunk := await stream.read(CHUNK)):
                return True
            first, *others = chunk.split(self.separator)
            self._add(first)
            for piece in others:
                record = bytes(self.partial)
                if self.keep is None or self.keep(record):
                    self.found.append(record)
                self.partial.clear()
                self._add(piece)
        return False

    def _add(self, piece: bytes) -> None:
        self.partial += piece[: MAX_RECORD - len(self.partial)]

    def records(self, *, late: bool) -> Records:
        return Records(self.found[: self.limit], len(self.found) > self.limit, late)


async def _until_stopped(ctx: ToolContext, process: Process, reader: _Reader) -> Records:
    """Read until the end (then the process has ended too), the limit, the time or the session's stop."""
    reading = asyncio.create_task(_read(process, reader))
    stopped = asyncio.create_task(ctx.abort.wait())
    try:
        await asyncio.wait((reading, stopped), timeout=TIMEOUT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if ctx.abort.is_set():
            raise ToolError("The search was stopped.")
        if reading.done():
            reading.result()
        return reader.records(late=not reading.done())
    finally:
        reading.cancel()
        stopped.cancel()
        await asyncio.gather(reading, stopped, return_exceptions=True)


async def _read(process: Process, reader: _Reader) -> None:
    if process.stdout and await reader.read(process.stdout):
        await process.wait()

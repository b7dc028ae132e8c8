"""Keeping the output of a child in bounded memory: small output whole, large output in a file."""

from __future__ import annotations

import asyncio
import codecs
import logging
import uuid
from pathlib import Path
from typing import BinaryIO

from agents.toolkit.shared.output import MAX_BYTES, MAX_LINES, PREFIX

LIVE_BYTES = 30 * 1024
"""How much of the end the card shows while the child runs."""
MAX_FILE_BYTES = 200 * 1024 * 1024
_HALF_BYTES = MAX_BYTES // 2 - 512
_HALF_LINES = MAX_LINES // 2 - 4

logger = logging.getLogger(__name__)


class Capture:
    """Takes bytes as they come; gives text. Invalid UTF-8 and NUL become U+FFFD.

    Over `MAX_BYTES` all of it goes to a managed output file in `directory`, up to `MAX_FILE_BYTES`.
    """

    def __init__(self, directory: Path) -> None:
        self.path: Path | None = None
        self.size = 0
        """Bytes of text so far."""
        self._directory = directory
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = bytearray()
        self._tail = bytearray()
        self._file: BinaryIO | None = None

    @property
    def overflowed(self) -> bool:
        return self.size > MAX_BYTES

    async def write(self, chunk: bytes, *, final: bool = False) -> None:
        data = self._decoder.decode(chunk, final).replace("\0", "\ufffd").encode()
        before = self.size
        self.size += len(data)
        if before <= MAX_BYTES and self.overflowed:
            await asyncio.to_thread(self._spill, (bytes(self._head) + data)[:MAX_FILE_BYTES])
        elif self._file:
            await asyncio.to_thread(self._append, data[: max(MAX_FILE_BYTES - before, 0)])
        self._head += data[: max(MAX_BYTES - len(self._head), 0)]
        self._tail += data
        del self._tail[: max(len(self._tail) - LIVE_BYTES, 0)]

    async def close(self) -> None:
        """Take the end of a cut character; close the file."""
        await self.write(b"", final=True)
        if self._file:
            await asyncio.to_thread(self._close)

    def live(self) -> str:
        """The end of the output so far."""
        return self._tail.decode("utf-8", "ignore")

    def text(self) -> str:
        """The whole, or its beginning and end around a notice that names the file."""
        if not self.overflowed:
            return self._head.decode()
        head = b"".join(self._head[:_HALF_BYTES].splitlines(keepends=True)[:_HALF_LINES])
        tail = b"".join(self._tail[-_HALF_BYTES:].splitlines(keepends=True)[-_HALF_LINES:])
        left_out = self.size - len(head) - len(tail)
        notice = f"\n\n[... {left_out} of {self.size} bytes left out here; {self._where()} ...]\n\n"
        return head.decode("utf-8", "ignore") + notice + tail.decode("utf-8", "ignore")

    def _where(self) -> str:
        if self.path is None:
            return "the rest could not be kept and is lost"
        if self.size > MAX_FILE_BYTES:
            return f"the first {MAX_FILE_BYTES} bytes are in {self.path}, the rest was dropped"
        return f"the whole is in {self.path}: read or grep it there"

    def _spill(self, data: bytes) -> None:
        path = self._directory / f"{PREFIX}{uuid.uuid4().hex}.txt"
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = path.open("xb", buffering=0)
            path.chmod(0o600)
        except OSError as error:
            self._lose(error)
            return
        self.path = path
        self._append(data)

    def _append(self, data: bytes) -> None:
        try:
            view = memoryview(data)
            while self._file and view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        # A full disk must not make a command fail that did its work; the preview stays.
        logger.warning("the output of a command was not kept in %s: %s", self._directory, error)
        self._close()
        if self.path:
            self.path.unlink(missing_ok=True)
        self.path = None

    def _close(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

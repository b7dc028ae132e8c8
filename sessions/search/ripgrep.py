"""Running ripgrep for people: what it prints, until it ends, enough was read or time is up."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import IO

TIMEOUT_SECONDS = 20
MAX_LINE = 1024 * 1024
"""Bytes of a line of output; a longer one is left out."""

_ERROR = 4000
_LATE = f"The search took longer than {TIMEOUT_SECONDS} seconds."


class SearchFailed(Exception):
    """ripgrep is missing, refused the pattern or cannot read the folder; the text says which."""


def binary() -> str:
    """The program of this environment, else of PATH. Raises SearchFailed when there is none."""
    own = Path(sys.executable).with_name("rg")
    path = str(own) if own.is_file() else shutil.which("rg")
    if not path:
        raise SearchFailed("ripgrep (rg) is not installed.")
    return path


def names(directory: Path, arguments: Sequence[str]) -> bytes:
    """All that it prints, of the names of files. Raises SearchFailed."""
    try:
        done = subprocess.run(
            _command(arguments), cwd=directory, capture_output=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SearchFailed(_LATE) from error
    except OSError as error:
        raise SearchFailed(f"{directory} cannot be searched: {error.strerror}") from error
    if done.stderr and not done.stdout:
        raise SearchFailed(_words(done.stderr))
    return done.stdout


def lines(directory: Path, arguments: Sequence[str]) -> Generator[bytes]:
    """What it prints, line by line; closing the iterator ends it. Raises SearchFailed."""
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                _command(arguments), cwd=directory, stdout=subprocess.PIPE, stderr=errors
            )
        except OSError as error:
            raise SearchFailed(f"{directory} cannot be searched: {error.strerror}") from error
        with process:  # at its end the pipe is closed and the process waited for
            assert process.stdout is not None
            late = threading.Timer(TIMEOUT_SECONDS, process.kill)
            late.start()
            try:
                yield from _whole_lines(process.stdout)
                process.wait()
            finally:
                overdue = not late.is_alive()
                late.cancel()
                process.kill()
        errors.seek(0)
        if overdue:
            raise SearchFailed(_LATE)
        if words := errors.read(_ERROR):
            raise SearchFailed(_words(words))


def _whole_lines(output: IO[bytes]) -> Iterator[bytes]:
    while line := output.readline(MAX_LINE):
        if line.endswith(b"\n"):
            yield line
            continue
        while (rest := output.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass


def _command(arguments: Sequence[str]) -> list[str]:
    return [binary(), "--no-config", "--no-messages", *arguments]


def _words(errors: bytes) -> str:
    return errors.decode("utf-8", "replace").strip()

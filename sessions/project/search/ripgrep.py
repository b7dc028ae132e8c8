"""Running ripgrep for people: what it prints, until it ends, enough was read or time is up."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, Any

from django.utils.translation import gettext

TIMEOUT_SECONDS = 20
MAX_LINE = 1024 * 1024
"""Bytes of a line of output; a longer one is left out."""

_ERROR = 4000


class SearchFailed(Exception):
    """ripgrep is missing, refused the pattern or cannot read the folder; the text says which."""


def _late() -> str:
    return gettext("The search took longer than %(seconds)s seconds.") % {"seconds": TIMEOUT_SECONDS}


def binary() -> str:
    """The program of this environment, else of PATH. Raises SearchFailed when there is none."""
    own = Path(sys.executable).with_name("rg")
    path = str(own) if own.is_file() else shutil.which("rg")
    if not path:
        raise SearchFailed(gettext("ripgrep (rg) is not installed."))
    return path


def names(directory: Path, arguments: Sequence[str]) -> bytes:
    """All that it prints, of the names of files. Raises SearchFailed."""
    try:
        done = subprocess.run(
            _command(arguments), cwd=directory, capture_output=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SearchFailed(_late()) from error
    except OSError as error:
        raise SearchFailed(
            gettext("%(directory)s cannot be searched: %(error)s")
            % {"directory": directory, "error": error.strerror}
        ) from error
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
            raise SearchFailed(
                gettext("%(directory)s cannot be searched: %(error)s")
                % {"directory": directory, "error": error.strerror}
            ) from error
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
            raise SearchFailed(_late())
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


_OPTIONS = ("--json", "--hidden", "--glob=!.git", "--max-count=50")


async def find_text(directory: Path, pattern: str, *, limit: int = 10) -> list[dict[str, Any]]:
    """Matches as ripgrep's JSON has them: path, lines, line_number, absolute_offset, submatches.

    The search ends at the limit. Raises SearchFailed.
    """
    return await asyncio.to_thread(_find_text, directory, pattern, limit)


def _find_text(directory: Path, pattern: str, limit: int) -> list[dict[str, Any]]:
    with closing(lines(directory, [*_OPTIONS, "-e", pattern, "--", "."])) as output:
        matches = (json.loads(line)["data"] for line in output if line.startswith(b'{"type":"match"'))
        return [_match(data) for data in islice(matches, limit)]


def _match(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": {"text": _text(data["path"]).removeprefix("./")},
        "lines": {"text": _text(data["lines"])},
        "line_number": data["line_number"],
        "absolute_offset": data["absolute_offset"],
        "submatches": [
            {"match": {"text": _text(item["match"])}, "start": item["start"], "end": item["end"]}
            for item in data["submatches"]
        ],
    }


def _text(data: dict[str, str]) -> str:
    """What is not UTF-8 comes as base64, which the wire has no place for."""
    if "text" in data:
        return data["text"]
    return base64.b64decode(data["bytes"]).decode("utf-8", "replace")

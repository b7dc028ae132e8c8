"""`opencode-web export SESSION`: as JSON that `opencode import` takes, as Markdown or as HTML."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import complain
from sessions.db import in_db_sync
from sessions.store import sessions
from sessions.transfer.writing.document import Document, collect
from sessions.transfer.writing.forms import written


def run(arguments: argparse.Namespace) -> None:
    """Write the file, or to the standard output. Raise Stop when there is no such session."""
    document = _document(arguments.session)
    if any(one.runs for one in document.every()):
        complain("the session is at work; it is written as it stands now")
    content = written(document, arguments.format, redact=arguments.redact)
    if arguments.output:
        _write(Path(arguments.output), content)
    else:
        _print(content)


def _document(session_id: str) -> Document:
    row = in_db_sync(sessions.get, session_id)
    if row is None:
        raise Stop(f"there is no session {session_id}")
    return in_db_sync(collect, row)


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, for its owner alone: a conversation holds what nobody else was meant to read."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror or error}") from error


def _print(content: bytes) -> None:
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

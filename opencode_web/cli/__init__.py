"""The command line: `opencode-web [DIR]` and the commands of `arguments`."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from opencode_web import team
from opencode_web.cli.arguments import parse
from opencode_web.cli.terminal import Stop, complain
from sessions.core import paths
from sessions.core.platform import signals
from sessions.core.platform.privacy import withdraw


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0, 1 for a failure, 2 for a wrong argument, 128 and the number
    of the signal for an interruption and for a reader that went away."""
    signals.reset()
    _open_closed()
    arguments = parse(sys.argv[1:] if argv is None else argv)
    if argv is None:  # a process of our own
        withdraw(arguments=[getattr(arguments, "password", None) or ""])
    try:
        team.remember()
        arguments.run(arguments)
    except Stop as stop:
        complain(str(stop))
        return stop.status
    except (KeyboardInterrupt, EOFError):
        sys.stderr.write("\n")
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # What is left in the buffer would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except Exception as error:
        words = in_words(error)
        if words is None:
            raise
        complain(words)
        return 1
    return 0


def _open_closed() -> None:
    """Put nothing in place of standard streams that whoever started us has closed, as daemons do: else the
    next file of ours would get the number of one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


logger = logging.getLogger(__name__)

_FULL = (errno.ENOSPC, errno.EDQUOT)
_ELSEWHERE = "set XDG_DATA_HOME to a folder that can be written"


def in_words(error: Exception) -> str | None:
    """What the person can do about it; None for an error that is not of files, of the database, of the
    settings or of what was typed."""
    if isinstance(error, OSError):
        words = _of_files(error)
    elif isinstance(error, UnicodeEncodeError):
        words = f"{error.object[error.start : error.end]!a} is no text in UTF-8"
    elif _is_of_database(error):
        words = _of_database(str(error))
    elif _is_of_settings(error):
        return str(error)
    else:
        return None
    logger.info("the command failed", exc_info=error)
    return words


def _of_files(error: OSError) -> str:
    what = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else "a file"
    home = paths.data_home()
    advice = Path(what).is_relative_to(home) or home.is_relative_to(what)
    if error.errno in _FULL:
        return f"the disk is full: {what} cannot be written; make room" + (
            f", or {_ELSEWHERE}" if advice else ""
        )
    return f"{what} cannot be used: {error.strerror or error}" + (f"; {_ELSEWHERE}" if advice else "")


def _is_of_database(error: Exception) -> bool:
    django = sys.modules.get("django.db.utils")
    return isinstance(error, sqlite3.Error) or (
        django is not None and isinstance(error, django.DatabaseError)
    )


def _is_of_settings(error: Exception) -> bool:
    django = sys.modules.get("django.core.exceptions")
    return django is not None and isinstance(error, django.ImproperlyConfigured)


def _of_database(words: str) -> str:
    if "full" in words or "disk I/O" in words:
        return f"the database cannot be written ({words}): the disk may be full; make room, or {_ELSEWHERE}"
    return f"the database cannot be used: {words}"

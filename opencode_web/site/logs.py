"""Where log lines go: a rotating file that only the user can read and, when asked, standard error."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from opencode_web.site import request_id
from sessions.core import paths, variables

FILE_NAME = "opencode-web.log"
MAX_BYTES = 5 * 1024 * 1024
KEPT_FILES = 3

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

access = logging.getLogger("opencode_web.access")


class _OneLine(logging.Formatter):
    """Hostile text in a message (a path, a header) can neither begin a line nor steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if text.isprintable():
            return text
        return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)


class _Json(logging.Formatter):
    """An object a line. Hostile text is within a string of JSON, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if name := request_id.current.get():
            told["request_id"] = name
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told)


_FORMATTERS: dict[str, Callable[[], logging.Formatter]] = {"text": lambda: _OneLine(_FORMAT), "json": _Json}


class _PrivateFile(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(handle, self.mode, encoding=self.encoding)  # type: ignore[return-value]

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """On a full disk there is no log; a traceback for each line of it on the terminal helps nobody."""


LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
OWN = ("opencode_web", "agents", "sessions")


def set_up(*, print_logs: bool, level: str = "INFO") -> Path:
    """Send everything from a level on to the log file, and to standard error too if `print_logs`. Below INFO
    it is our own lines only: libraries write keys there.

    Return the file. Raise OSError when it cannot be written, and ImproperlyConfigured for an unknown form.
    """
    file = paths.logs() / FILE_NAME
    handlers: list[logging.Handler] = [
        _PrivateFile(file, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8")
    ]
    if print_logs:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(_formatter())
    least = logging.getLevelNamesMapping()[level]
    logging.basicConfig(level=max(least, logging.INFO), handlers=handlers, force=True)
    for name in OWN:
        logging.getLogger(name).setLevel(least)
    # The address of every request of these libraries may hold a key.
    logging.getLogger("httpx").setLevel(max(least, logging.WARNING))
    return file


def _formatter() -> logging.Formatter:
    name = variables.LOG.read()
    if name not in _FORMATTERS:
        raise ImproperlyConfigured(f"{variables.LOG.name} is {' or '.join(_FORMATTERS)}, not {name!r}")
    return _FORMATTERS[name]()


def log_access(protocol: str, action: str, details: dict[str, Any]) -> None:
    """daphne's action logger. Queries are left out: the one of a launch URL is a secret."""
    if (protocol, action) == ("http", "complete"):
        path = str(details["path"]).partition("?")[0]
        milliseconds = details["time_taken"] * 1000
        access.info("%s %s %s %.1f ms", details["method"], path, details["status"], milliseconds)

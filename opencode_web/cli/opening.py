"""The launch link in the person's browser, without the link in the arguments of a program.

Every user of the machine can read the arguments of `xdg-open` and of the browser, so those name a file that
only this user can read, and that leads on to the link. It is gone when the link was used.
"""

from __future__ import annotations

import os
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path

from opencode_web import paths
from opencode_web.security.launch import LIFETIME

_LOOK_SECONDS = 1.0
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={link}"><title>opencode-web</title>
<p><a href="{link}">Open opencode-web</a></p></html>
"""


def open_link(link: str, port: int, is_unused: Callable[[], bool]) -> None:
    """In a thread, which ends when the link was used or is too old."""
    threading.Thread(target=_open, args=(link, port, is_unused), daemon=True).start()


def _open(link: str, port: int, is_unused: Callable[[], bool]) -> None:
    page = write(link, port)
    try:
        webbrowser.open(page.as_uri())
        end = time.monotonic() + LIFETIME
        while is_unused() and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
    finally:
        page.unlink(missing_ok=True)


def write(link: str, port: int, environ: Mapping[str, str] = os.environ) -> Path:
    """The file, of mode 600; one that a server on this port left behind is replaced."""
    page = place(port, environ)
    page.unlink(missing_ok=True)
    descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_PAGE.format(link=escape(link)))
    return page


def place(port: int, environ: Mapping[str, str] = os.environ) -> Path:
    """In the folder that the system clears when the user logs out, else with the data."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(runtime) if os.path.isabs(runtime) and os.path.isdir(runtime) else None
    return (folder or paths.data_directory(environ)) / f"opencode-web-{port}.html"

"""The launch link: opened in the person's browser, and a new one printed (`opencode-web url`).

The link itself is never in the arguments of a program: every user of the machine can read those of `xdg-open`
and of the browser. They name a file that only this user can read, that leads on to the link, and that is gone
when the link was used.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import closing
from html import escape
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from opencode_web import team
from opencode_web.cli.terminal import Stop, say
from opencode_web.site.security.launch import LIFETIME, PATH
from sessions.core import holding, paths, variables

DEFAULT_HOSTNAME = "127.0.0.1"
DEFAULT_PORT = 4096
_LOOK_SECONDS = 1.0
_ANSWER_SECONDS = 30.0
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
    runtime = variables.RUNTIME_DIR.read(environ)
    folder = Path(runtime) if os.path.isabs(runtime) and os.path.isdir(runtime) else None
    return (folder or paths.data_directory(environ)) / f"opencode-web-{port}.html"


def renew(arguments: argparse.Namespace) -> None:
    """Print a new link, asked of the server that runs on this machine: where none is named, the one that has
    the data folder.

    Raise Stop when no server answers or the password is another one.
    """
    named = arguments.hostname or arguments.port
    url = "" if named else holding.server(paths.data_directory())
    found = _place(url or team.base_path(os.environ))
    hostname, port = arguments.hostname or found.hostname, arguments.port or found.port
    say(_new_link(_Place(hostname, port, found.base)))


def link_to(url: str, target: str) -> str:
    """A new link of the server at `url`, which leads to a path there. Raise Stop when it does not answer, or
    the password is another one."""
    link = _new_link(_place(url))
    return link if target == "/" else f"{link}&{urlencode({'next': target})}"


def project_page(url: str, directory: str) -> str:
    """The path, below `url`, of the project of a folder, opened by the server there. Raise Stop when it does
    not answer, the password is another one, or it does not open the folder."""
    asked = f"/project/current?{urlencode({'directory': directory})}"
    return f"/p/{_answer(_place(url), 'GET', asked)['id']}/"


def post(url: str, path: str) -> Any:
    """What the server at `url` answers to a POST without a body. Raise Stop as `link_to`, and for what it
    refuses."""
    return _answer(_place(url), "POST", path)


def answer_of(url: str, path: str) -> Any:
    """What the server at `url` answers as JSON at a path there. Raise Stop when it does not answer, or the
    password is another one."""
    return _answer(_place(url), "GET", path)


class _Place(NamedTuple):
    """Of a server; `base` is the path below which it is."""

    hostname: str
    port: int
    base: str


def _place(url: str) -> _Place:
    where = urlsplit(url)
    return _Place(where.hostname or DEFAULT_HOSTNAME, where.port or DEFAULT_PORT, where.path)


def _new_link(server: _Place) -> str:
    return str(_answer(server, "POST", PATH)["url"])


def _answer(server: _Place, method: str, path: str) -> Any:
    where = f"{server.hostname}:{server.port}{server.base}"
    try:
        status, body = _ask(server, method, path)
    except (OSError, HTTPException) as error:
        raise Stop(f"no server answers at {where} (--port names another one): {error}") from error
    if status == 401:
        raise Stop(f"the server at {where} has another password; set OPENCODE_SERVER_PASSWORD to it")
    if status != 200:
        raise Stop(f"the server at {where} answered with status {status}: {_reason(body)}")
    return json.loads(body)


def _reason(body: bytes) -> str:
    """The words of an error of the API, else its beginning."""
    try:
        told = json.loads(body)
        return str((told.get("data") or told)["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return body[:200].decode(errors="replace")


def _ask(server: _Place, method: str, path: str) -> tuple[int, bytes]:
    password = variables.PASSWORD.read() or paths.secret()
    with closing(HTTPConnection(server.hostname, server.port, timeout=_ANSWER_SECONDS)) as connection:
        headers = {"Authorization": f"Bearer {password}", "Accept": "application/json"}
        connection.request(method, server.base + path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()

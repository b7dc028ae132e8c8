"""`opencode-web url`: a new launch link, asked of the server that runs on this machine."""

from __future__ import annotations

import argparse
import json
import os
from contextlib import closing
from http.client import HTTPConnection, HTTPException

from opencode_web import paths
from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import say
from opencode_web.security.launch import PATH

TIMEOUT = 5.0
"""Seconds."""


def run(arguments: argparse.Namespace) -> None:
    """Print the link. Raise Stop when no server answers or the password is another one."""
    where = f"{arguments.hostname}:{arguments.port}"
    try:
        status, body = _ask(arguments.hostname, arguments.port)
    except (OSError, HTTPException) as error:
        raise Stop(f"no server answers at {where} (--port names another one): {error}") from error
    if status == 401:
        raise Stop(f"the server at {where} has another password; set OPENCODE_SERVER_PASSWORD to it")
    if status != 200:
        raise Stop(f"the server at {where} answered with status {status}")
    say(json.loads(body)["url"])


def _ask(hostname: str, port: int) -> tuple[int, bytes]:
    password = os.environ.get("OPENCODE_SERVER_PASSWORD") or paths.secret()
    with closing(HTTPConnection(hostname, port, timeout=TIMEOUT)) as connection:
        connection.request("POST", PATH, headers={"Authorization": f"Bearer {password}"})
        response = connection.getresponse()
        return response.status, response.read()

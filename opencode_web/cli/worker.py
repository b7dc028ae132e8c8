"""`opencode-web worker`: turns in a process of their own, beside the one that serves pages."""

from __future__ import annotations

import argparse
import os

from opencode_web import logs
from opencode_web.cli.django import prepare_django, wired
from opencode_web.cli.redis import check_redis

WORKER = "opencode_web.worker.run"


def run(arguments: argparse.Namespace) -> None:
    """Work until a signal. Raise Stop when it cannot begin."""
    check_redis(os.environ, needed_by="opencode-web worker")
    # The environment may be shared with the server, which runs no turns and asks for a password.
    for name in ("OPENCODE_WEB_NO_WORKER", "OPENCODE_SERVER_PASSWORD"):
        os.environ.pop(name, None)
    logs.set_up(print_logs=arguments.print_logs)
    prepare_django()
    wired(WORKER)()

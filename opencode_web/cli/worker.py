"""`opencode-web worker`: turns in a process of their own, beside the one that serves pages."""

from __future__ import annotations

import argparse
import os

from opencode_web import logs, paths
from opencode_web.cli.django import prepare_django, wired
from opencode_web.cli.redis import check_redis
from opencode_web.cli.stop import Stop
from opencode_web.holding import Held, hold

WORKER = "opencode_web.worker.run"


def run(arguments: argparse.Namespace) -> None:
    """Work until a signal. Raise Stop when it cannot begin."""
    check_redis(os.environ, paths.secret(), needed_by="opencode-web worker")
    try:
        hold(paths.data_directory(), f"a worker (process {os.getpid()})", os.environ)
    except Held as error:
        raise Stop(str(error)) from error
    # The environment may be shared with the server, which runs no turns and asks for a password.
    for name in ("OPENCODE_WEB_NO_WORKER", "OPENCODE_SERVER_PASSWORD"):
        os.environ.pop(name, None)
    logs.set_up(print_logs=arguments.print_logs)
    prepare_django()
    wired(WORKER)()

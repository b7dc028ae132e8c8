"""`opencode-web worker`: turns in a process of their own, beside the one that serves pages."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal

from opencode_web.cli.setup import check_redis, prepare_django
from opencode_web.cli.terminal import Stop, say
from opencode_web.site import logs
from opencode_web.site.shutdown import shut_down
from sessions.core import paths, variables
from sessions.core.holding import Held, hold


def run(arguments: argparse.Namespace) -> None:
    """Work until a signal. Raise Stop when it cannot begin."""
    check_redis(os.environ, paths.secret(), needed_by="opencode-web worker")
    try:
        hold(paths.data_directory(), f"a worker (process {os.getpid()})", os.environ)
    except Held as error:
        raise Stop(str(error)) from error
    # The environment may be shared with the server, which runs no turns and asks for a password.
    for name in (variables.NO_WORKER.name, variables.PASSWORD.name):
        os.environ.pop(name, None)
    logs.set_up(print_logs=arguments.print_logs, level=arguments.log_level)
    prepare_django()
    asyncio.run(_work())


async def _work() -> None:
    from opencode_web.site import background
    from sessions.changes import unfinished

    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await unfinished.finish()
    await background.start()
    say("opencode-web worker waiting for prompts")
    await ended.wait()
    await shut_down(background.stop)

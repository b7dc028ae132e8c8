"""A process that runs turns and serves no page; any number may work beside one another.

Import it when Django is set up.
"""

from __future__ import annotations

import asyncio
import signal

from opencode_web import background
from opencode_web.cli.terminal import say
from opencode_web.shutdown import shut_down


def run() -> None:
    """Work until SIGINT or SIGTERM."""
    asyncio.run(_work())


async def _work() -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await background.start()
    say("opencode-web worker waiting for prompts")
    await ended.wait()
    await shut_down(background.stop)

"""The signals that a process is started with, which depend on who starts it.

A script that puts a program in the background has it ignore SIGINT and SIGQUIT, nohup SIGHUP; all that the
program starts inherits that.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

OWN = frozenset((signal.SIGPIPE, signal.SIGXFSZ))
"""Python ignores these for itself; it restores them in what it starts."""


def reset() -> None:
    """Undo what was inherited; call it first of all, from the main thread.

    SIGINT interrupts again, and no signal is blocked. What else was ignored goes on having no effect on this
    process (so nohup works), but through a handler, so that what it starts gets the default (execve(2)).
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - OWN:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _handlers.get(number, _pass))


def _pass(number: int, frame: FrameType | None) -> None:
    """Nothing."""


_handlers: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGCHLD: signal.SIG_DFL}

"""The command line: `opencode-web [DIR]` and the commands of `arguments`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from opencode_web.cli.arguments import parse
from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import complain
from opencode_web.cli.trouble import in_words
from sessions.platform import signals
from sessions.platform.privacy import withdraw


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0, 1 for a failure, 2 for a wrong argument, 128 and the number
    of the signal for an interruption and for a reader that went away."""
    signals.reset()
    arguments = parse(sys.argv[1:] if argv is None else argv)
    if argv is None:  # a process of our own
        withdraw(arguments=[getattr(arguments, "password", None) or ""])
    try:
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

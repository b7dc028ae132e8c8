"""The command line: `opencode-web [DIR]`, `serve`, `worker`, `url`, `manage`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from opencode_web.cli.arguments import parse
from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import complain


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0, 1 for a failure, 2 for a wrong argument."""
    arguments = parse(sys.argv[1:] if argv is None else argv)
    try:
        arguments.run(arguments)
    except Stop as stop:
        complain(str(stop))
        return stop.status
    return 0

"""A machine as others have it: `python -m tests.bare PROGRAM ARGUMENT…` runs a program with /proc hidden.

By that it is without inotify, too, as on macOS. It runs in a mount namespace of its own (unshare(1)); nothing
outside of it changes.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

_HIDE = 'mount -t tmpfs -o mode=0555 none /proc && exec "$@"'


def hidden(argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` so. Raises FileNotFoundError where there is no unshare(1)."""
    unshare = shutil.which("unshare")
    if unshare is None:
        raise FileNotFoundError("unshare(1), of util-linux, is not installed")
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return [unshare, "--mount", *user, "sh", "-c", _HIDE, "-", *argv]


if __name__ == "__main__":
    command = hidden(sys.argv[1:])
    os.execv(command[0], command)  # noqa: S606 (argv, no shell line)

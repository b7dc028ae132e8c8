"""A machine as others have it: `python -m tests.bare PROGRAM ARGUMENT…` runs a program with /proc hidden.

By that it is without inotify, too, as on macOS. It runs in a mount namespace of its own (unshare(1)); nothing
outside of it changes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

_HIDE = 'mount -t tmpfs -o mode=0555 none /proc && exec "$@"'


def hidden(argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` so. Raises FileNotFoundError where there is no unshare(1)."""
    unshare = shutil.which("unshare")
    if unshare is None:
        raise FileNotFoundError("unshare(1), of util-linux, is not installed")
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return [unshare, "--mount", *user, "sh", "-c", _HIDE, "-", *argv]


@cache
def refusal() -> str:
    """Why this machine does not allow that; empty where it does."""
    try:
        subprocess.run(hidden(["true"]), check=True, capture_output=True, text=True)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        return f"without /proc: {getattr(error, 'stderr', '') or error}"
    return ""


def main(argv: Sequence[str]) -> int:
    """Run it; where that is not allowed say so."""
    if reason := refusal():
        sys.stderr.write(f"NOT RUN {reason}\n")
        return 0
    return subprocess.run(hidden(argv), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

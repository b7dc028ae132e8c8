"""What the programs that tools start find in their environment."""

from __future__ import annotations

import os

from sessions.core.holding import OWN


def shell_environment() -> dict[str, str]:
    """The server's environment without what is its own; programs find no terminal and no pager."""
    inherited = {name: value for name, value in os.environ.items() if name not in OWN}
    return {**inherited, "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}

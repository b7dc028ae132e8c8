"""What the programs that the server starts find in their environment."""

from __future__ import annotations

import os

from sessions.core.holding import OWN
from sessions.core.platform import search_path


def shell_environment() -> dict[str, str]:
    """Of what an agent runs: the server's without what is its own; programs find no terminal and no pager."""
    return {**program_environment(), "PATH": search_path.persons()}


def program_environment() -> dict[str, str]:
    """Of what the configuration names, and of the server's own: the same, but no program of a project takes
    the place of another."""
    inherited = {name: value for name, value in os.environ.items() if name not in OWN}
    path = search_path.configured()
    return {**inherited, "PATH": path, "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}

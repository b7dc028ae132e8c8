"""What the programs that tools start find in their environment."""

from __future__ import annotations

import os

PRIVATE = frozenset(
    {"OPENCODE_SERVER_PASSWORD", "OPENCODE_CONFIG_CONTENT", "REDIS_URL", "DJANGO_SETTINGS_MODULE"}
)
"""This server's own: its secrets, and what would lead a Django project of the user to its settings."""


def shell_environment() -> dict[str, str]:
    """The server's environment without what is its own; programs find no terminal and no pager."""
    inherited = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    return {**inherited, "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}

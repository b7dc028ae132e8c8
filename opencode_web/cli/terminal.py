"""The two ways of speaking to the person at the terminal."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """A line of the answer, at once: whoever started us may be waiting for it in a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    sys.stderr.write(f"opencode-web: {text}\n")

"""How a command ends before its time."""

from __future__ import annotations


class Stop(Exception):
    """The text is for the user; `status` is the exit status (2: what was asked for makes no sense)."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status

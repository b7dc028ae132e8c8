"""Terminals on the wire, of both protocols."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sessions.core.wire.base import Wire

Side = Annotated[int, Field(strict=True, ge=1, le=65_535)]
"""Cells; what a struct winsize holds (tty_ioctl(4))."""
Title = Annotated[str, Field(max_length=1000)]


class Pty(Wire):
    """One terminal; `exit_code` is there once it has exited."""

    id: str
    title: str
    command: str
    args: list[str]
    cwd: str
    status: Literal["running", "exited"]
    pid: int
    exit_code: int | None = Field(None, alias="exitCode")


class PtyCreate(Wire):
    """What a new terminal is to run; without a command the user's shell."""

    command: str | None = None
    args: list[str] | None = None
    cwd: str | None = None
    title: Title | None = None
    env: dict[str, str] | None = None


class PtySize(Wire):
    rows: Side
    cols: Side


class PtyUpdate(Wire):
    title: Title | None = None
    size: PtySize | None = None


class PtyTicket(Wire):
    """`expires_in`: seconds."""

    ticket: str
    expires_in: int


class Shell(Wire):
    path: str
    name: str
    acceptable: bool

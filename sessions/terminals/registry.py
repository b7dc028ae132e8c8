"""The terminals of this process. They are no rows: nothing of them can be taken up after a restart."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from django.utils.translation import gettext

from sessions.core import bus
from sessions.core.ids import ascending
from sessions.terminals.shapes import PtyCreate, PtyUpdate
from sessions.terminals.shells import default_shell, environment, login_arguments
from sessions.terminals.terminal import Terminal

LIMIT = 20
"""Terminals of one project, those that have exited and are still shown among them."""

log = logging.getLogger(__name__)


class CannotOpen(Exception):
    """A terminal cannot be had; `field` of the request is why, unless it is empty."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Watcher(Protocol):
    """Ends what runs in a terminal when this program is killed."""

    def watch(self, pid: int, /) -> None:
        """The leader of a session has begun."""

    def forget(self, pid: int, /) -> None:
        """It has ended."""


@dataclass
class Registry:
    watcher: Watcher | None = None
    _terminals: dict[str, Terminal] = field(default_factory=dict)
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def of(self, directory: Path) -> list[Terminal]:
        """The terminals of a folder, oldest first."""
        place = _place(directory)
        return [found for found in self._terminals.values() if found.pid and found.directory == place]

    def get(self, directory: Path, pty_id: str) -> Terminal | None:
        return next((found for found in self.of(directory) if found.id == pty_id), None)

    async def open(self, project_id: str, directory: Path, wanted: PtyCreate) -> Terminal:
        """Raises CannotOpen."""
        cwd = await asyncio.to_thread(_folder, directory, wanted.cwd)
        env = await environment(wanted.env or {}, project_id, directory, cwd)
        command = wanted.command or default_shell()
        await asyncio.to_thread(_check_program, command, cwd, env.get("PATH"))
        self._make_room(project_id)
        pty_id = ascending("pty")
        terminal = self._terminals[pty_id] = Terminal(
            id=pty_id,
            project_id=project_id,
            directory=_place(directory),
            title=wanted.title or f"Terminal {pty_id[-4:]}",
            command=command,
            arguments=wanted.args or login_arguments(command),
            cwd=cwd,
        )
        try:
            await terminal.start(env)
        except (OSError, ValueError) as error:  # too long for the system, a NUL, no more terminals
            del self._terminals[pty_id]
            raise CannotOpen(
                gettext("The terminal could not be started: %(error)s") % {"error": error}
            ) from error
        self._tell(terminal, "pty.created", info=terminal.info.wire())
        self._running[pty_id] = asyncio.create_task(self._run(terminal))
        return terminal

    def update(self, terminal: Terminal, wanted: PtyUpdate) -> None:
        if wanted.size:
            terminal.resize(wanted.size.rows, wanted.size.cols)
        terminal.title = wanted.title or terminal.title
        self._tell(terminal, "pty.updated", info=terminal.info.wire())

    async def remove(self, terminal: Terminal) -> None:
        """End what runs in it, and forget it."""
        if self._terminals.pop(terminal.id, None):
            await terminal.end()
            self._tell(terminal, "pty.deleted", id=terminal.id)

    async def close(self) -> None:
        """End all terminals."""
        await asyncio.gather(*(self.remove(terminal) for terminal in list(self._terminals.values())))

    async def _run(self, terminal: Terminal) -> None:
        pid = terminal.pid
        if self.watcher:
            self.watcher.watch(pid)
        try:
            code = await terminal.run()
            if terminal.id in self._terminals:
                self._tell(terminal, "pty.exited", id=terminal.id, exitCode=code)
        except Exception:
            log.exception("terminal %s failed", terminal.id)
        finally:
            if self.watcher:
                self.watcher.forget(pid)
            del self._running[terminal.id]

    def _make_room(self, project_id: str) -> None:
        """The oldest that has exited goes for a new one. Raises CannotOpen when all run."""
        mine = [found for found in self._terminals.values() if found.project_id == project_id]
        if len(mine) < LIMIT:
            return
        exited = next((found for found in mine if found.exit_code is not None), None)
        if exited is None:
            raise CannotOpen(
                gettext("%(limit)s terminals are open in this project: close one first.") % {"limit": LIMIT}
            )
        del self._terminals[exited.id]
        self._tell(exited, "pty.deleted", id=exited.id)

    def _tell(self, terminal: Terminal, event: str, **properties: object) -> None:
        directory = str(terminal.directory)
        bus.publish(bus.Event(event, properties, project_id=terminal.project_id, directory=directory))


def _place(directory: Path) -> Path:
    """A folder by whatever name it was asked for."""
    return directory.resolve()


def _folder(directory: Path, wanted: str | None) -> Path:
    """Any folder of this machine, as the person has a shell on it anyway."""
    try:
        folder = directory / Path(wanted or ".").expanduser()
        usable = folder.is_dir() and os.access(folder, os.X_OK)
    except (OSError, RuntimeError, ValueError) as error:  # a name too long, no such user, a NUL
        raise CannotOpen(gettext("The folder cannot be used: %(error)s") % {"error": error}, "cwd") from error
    if not usable:
        raise CannotOpen(
            gettext("There is no folder %(folder)s that can be entered.") % {"folder": repr(str(folder))},
            "cwd",
        )
    return folder


def _check_program(command: str, cwd: Path, path: str | None) -> None:
    inside = str(cwd / command) if "/" in command else command
    if "\0" in command or shutil.which(inside, path=path) is None:
        raise CannotOpen(gettext("There is no program %(command)s.") % {"command": repr(command)}, "command")


terminals = Registry()

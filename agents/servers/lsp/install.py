"""Installing language servers into our own folder, each when a person asks for it, from npm or PyPI.

Packages' own scripts do not run: npm is told so, and from PyPI only wheels are taken. What was installed
counts when its server has answered; until then nothing of it is used.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shlex
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agents.servers.lsp.client.client import Client
from agents.servers.lsp.finding import READY, Found, Missing, folder_of, installed
from agents.servers.lsp.matrix.row import Package, Row
from agents.servers.lsp.types import Failed
from agents.toolkit.children.child import Tail
from agents.toolkit.children.loop import background
from agents.toolkit.shared.environment import program_environment
from agents.toolkit.shared.process import CannotStart, run
from sessions.core import variables
from sessions.core.sentences import Sentence
from sessions.core.text import error_text

logger = logging.getLogger(__name__)

DISABLED = variables.DISABLE_LSP_DOWNLOAD.name
INSTALL_SECONDS = 900.0
CHECK_SECONDS = 60.0
_NPM = ("install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=http")
_PIP = ("-m", "pip", "install", "--only-binary=:all:", "--disable-pip-version-check", "--progress-bar=off")


@dataclass(slots=True)
class Installation:
    """`problem` says why it failed; `log` has what the registry's client says, as it says it."""

    row: Row
    status: Literal["running", "done", "failed"] = "running"
    problem: str = ""
    log: Tail = field(default_factory=Tail)


def allowed() -> bool:
    return not variables.DISABLE_LSP_DOWNLOAD.is_true()


def lacking(package: Package) -> str:
    """What is not there that installing takes, in words."""
    if package.registry == "npm" and shutil.which("npm") is None:
        return Sentence("npm is not on PATH: install Node.js first.")
    return ""


def by_hand(row: Row) -> str:
    """How a person installs it; a command where there is one."""
    if not isinstance(row.install, Package):
        return row.install
    tool = "npm install --global" if row.install.registry == "npm" else "pip install"
    return f"{tool} {shlex.join(row.install.names)}"


class Installer:
    """One at a time; methods may be called from any thread, `begin` from any loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = asyncio.Lock()
        self._known: dict[str, Installation] = {}

    def of(self, row: Row) -> Installation | None:
        """The last one of this run of the program."""
        return self._known.get(row.id)

    def begin(self, row: Row, changed: Callable[[], object]) -> Installation:
        """Install a server in the background; `changed` is called when that has ended. One that is under way
        goes on."""
        with self._lock:
            now = self._known.get(row.id)
            if now is not None and now.status == "running":
                return now
            new = self._known[row.id] = Installation(row)
        background.begin(self._install(new, changed))
        return new

    async def _install(self, new: Installation, changed: Callable[[], object]) -> None:
        try:
            async with self._turn:
                await _installed(new)
            new.status = "done"
        except Exception as error:
            if not isinstance(error, Failed | OSError):
                logger.exception("%s was not installed", new.row.id)
            await asyncio.to_thread(shutil.rmtree, folder_of(new.row), ignore_errors=True)
            new.problem, new.status = error_text(error), "failed"
        finally:
            changed()


async def _installed(new: Installation) -> None:
    """Raises Failed, OSError."""
    folder, package = folder_of(new.row), new.row.install
    assert isinstance(package, Package)
    await asyncio.to_thread(_emptied, folder)
    for command in _commands(package, folder):
        await _run(command, folder, new.log)
    found = await asyncio.to_thread(installed, new.row)
    if isinstance(found, Missing):
        raise Failed(found.reason)
    new.log.say("Checking that it starts …")
    await _check(new.row, found)
    (folder / READY).write_text(json.dumps({"packages": package.names}))
    new.log.say("It works.")


def _commands(package: Package, folder: Path) -> list[list[str]]:
    if package.registry == "npm":
        return [["npm", *_NPM, "--prefix", str(folder), *package.names]]
    python = str(folder / "venv" / "bin" / "python")
    return [[sys.executable, "-m", "venv", str(folder / "venv")], [python, *_PIP, *package.names]]


async def _run(command: list[str], folder: Path, log: Tail) -> None:
    """Raises Failed."""

    async def listen(chunk: bytes) -> None:
        log.feed(chunk)

    log.say(f"$ {shlex.join(command)}")
    never = asyncio.Event()
    try:
        ended = await run(
            command,
            cwd=folder,
            env=program_environment(),
            timeout=INSTALL_SECONDS,
            abort=never,
            on_output=listen,
        )
    except CannotStart as error:
        raise Failed(str(error)) from error
    if ended.ending == "timeout":
        raise Failed(
            Sentence(
                "It took longer than %(minutes)s minutes.",
                minutes=f"{INSTALL_SECONDS / 60:.0f}",
            )
        )
    if ended.exit_code:
        raise Failed(Sentence("%(command)s failed.\n%(log)s", command=command[0], log=log.last(8)))


async def _check(row: Row, found: Found) -> None:
    """Start the server in an empty folder. Raises Failed."""
    with tempfile.TemporaryDirectory(prefix="opencode-web-") as empty:
        client = await Client.start(
            row.id, found.argv, Path(empty), program_environment(), found.initialization, within=CHECK_SECONDS
        )
        await client.end()


def _emptied(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


installer = Installer()

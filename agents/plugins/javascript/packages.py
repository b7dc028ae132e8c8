"""Packages that plugins import, installed into a folder of ours; their own scripts do not run.

npm keeps what it has found in `package-lock.json`: the versions stay until others are named.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from agents.config.plugins import entries, path_of
from agents.config.schema import Config
from agents.plugins.plugin import Package
from agents.toolkit.children.child import Tail
from agents.toolkit.shared.environment import program_environment
from agents.toolkit.shared.process import CannotStart, run
from sessions.core.wire.version import VERSION

logger = logging.getLogger(__name__)

API = {"@opencode-ai/plugin": VERSION}
"""What plugins and tools of OpenCode are written with."""
INSTALL_SECONDS = 300.0
_NPM = ("install", "--ignore-scripts", "--no-audit", "--no-fund")
_BUN = ("install", "--ignore-scripts")
_MARK = "installed.json"
_one_at_a_time = asyncio.Lock()


class CannotInstall(Exception):
    """The text is for people."""


def dependencies(content: bytes) -> dict[str, str]:
    """Those of a `package.json`, by name; none of one that is no such file."""
    try:
        named = json.loads(content).get("dependencies") or {}
        return {str(name): str(version) for name, version in named.items()}
    except (ValueError, AttributeError):
        return {}


def packages_of(config: Config) -> list[Package]:
    """Those that `plugin` names: `name`, `name@version`, or one of them with options; no paths."""
    return [
        package_of(name, options) for name, options in entries(config.plugin) if path_of(name, Path()) is None
    ]


def package_of(spec: str, options: Mapping[str, Any]) -> Package:
    name, _, version = spec.rpartition("@") if "@" in spec[1:] else (spec, "", "")
    return Package(name, version or "latest", options)


async def install(folder: Path, wanted: Mapping[str, str]) -> None:
    """Versions by name; nothing where they are there. Raises CannotInstall, OSError."""
    async with _one_at_a_time:
        if not await asyncio.to_thread(_lacks, folder, wanted):
            return
        logger.info("installing %s for plugins in %s", ", ".join(wanted), folder)
        said = Tail()
        try:
            ended = await run(
                _command(),
                cwd=folder,
                env=program_environment(),
                timeout=INSTALL_SECONDS,
                abort=asyncio.Event(),
                on_output=_listener(said),
            )
        except CannotStart as error:
            raise CannotInstall(str(error)) from error
        if ended.exit_code != 0:
            raise CannotInstall(f"{', '.join(wanted)} could not be installed: {_error(said)}")
        (folder / _MARK).write_text(json.dumps(wanted))


def _lacks(folder: Path, wanted: Mapping[str, str]) -> bool:
    """Whether something has to be installed; makes the folder ready for it."""
    try:
        if json.loads((folder / _MARK).read_text()) == wanted:
            return False
    except (OSError, ValueError):
        pass  # nothing is there yet
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).unlink(missing_ok=True)
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": wanted}))
    return True


def _command() -> list[str]:
    """Raises CannotInstall."""
    for program, arguments in (("npm", _NPM), ("bun", _BUN)):
        if found := shutil.which(program):
            return [found, *arguments]
    raise CannotInstall("packages are installed by npm or Bun, and neither is on PATH")


def _error(said: Tail) -> str:
    """What is wrong, of all that npm or Bun says of it."""
    lines = said.last(20).splitlines()
    return " ".join([line for line in lines if "error" in line][:2] or lines[-2:])


def _listener(said: Tail) -> Callable[[bytes], Awaitable[None]]:
    async def listen(chunk: bytes) -> None:
        said.feed(chunk)

    return listen

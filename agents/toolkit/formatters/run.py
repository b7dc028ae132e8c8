"""Choose and run the formatters of a file (OpenCode's `formatter` key)."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from agents.config.schema import FormatterConfig
from agents.toolkit.formatters.table import BUILTIN, FILE, Formatter, applies
from agents.toolkit.shared.environment import shell_environment
from agents.toolkit.shared.process import CannotStart, run
from agents.toolkit.turn import Turn

TIMEOUT = 10.0

logger = logging.getLogger(__name__)


def formatters(setting: bool | Mapping[str, FormatterConfig]) -> Iterator[Formatter]:
    """The formatters of a configuration: built-in ones as changed by it, then its own."""
    if setting is False:
        return
    entries: Mapping[str, FormatterConfig] = {} if setting is True else setting
    builtin = {formatter.name: formatter for formatter in BUILTIN}
    for name, formatter in builtin.items():
        entry = entries.get(name)
        if entry is None and not formatter.named_only:
            yield formatter
        elif entry is not None and not entry.get("disabled"):
            yield _changed(formatter, entry)
    for name, entry in entries.items():
        if name not in builtin and entry.get("command") and not entry.get("disabled"):
            yield _changed(Formatter(name, (), ()), entry)


def _changed(formatter: Formatter, entry: FormatterConfig) -> Formatter:
    """A formatter that the configuration names needs no marker in the project."""
    return Formatter(
        formatter.name,
        tuple(entry.get("extensions") or formatter.extensions),
        tuple(entry.get("command") or formatter.command),
        environment=tuple((entry.get("environment") or {}).items()),
    )


def chosen(path: Path, turn: Turn) -> list[Formatter]:
    """The formatters for a file that are installed and that the project or the configuration asks for."""
    found = [item for item in formatters(turn.config.formatter) if applies(item, path, turn.worktree)]
    return [item for item in found if item.command and shutil.which(item.command[0])]


async def run_formatter(formatter: Formatter, path: Path, turn: Turn) -> None:
    """Format a file in place. A formatter that fails or takes too long is logged; the file stays as it is."""
    said: list[bytes] = []

    async def listen(chunk: bytes) -> None:
        said.append(chunk[:2000])

    argv = [str(path) if word == FILE else word for word in formatter.command]
    environment = {**shell_environment(), **dict(formatter.environment)}
    try:
        ended = await run(
            argv, cwd=turn.worktree, env=environment, timeout=TIMEOUT, abort=asyncio.Event(), on_output=listen
        )
    except CannotStart as error:
        logger.warning("%s did not format %s: %s", formatter.name, path, error)
        return
    if ended.exit_code != 0:
        words = b"".join(said).decode("utf-8", "replace")[-500:]
        logger.warning("%s did not format %s (%s): %s", formatter.name, path, ended.ending, words)

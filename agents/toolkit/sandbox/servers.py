"""A server of MCP or of a language that is confined, as its configuration asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agents.toolkit.sandbox import bubblewrap, probe
from agents.toolkit.sandbox.policy import environment, make_caches, policy
from sessions.core import paths


class CannotConfine(Exception):
    """There is no sandbox; the text is for people."""


def confined(
    argv: Sequence[str], folder: Path, environ: Mapping[str, str], given: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The command and the environment by which a server starts that reads the project and writes nothing of
    it: but for caches and a temporary folder it has nothing to write in, no network, and no keys but those
    that it was `given`. It may live for days, so nothing stands in for what would have to be held in a
    workspace that is written. Raises CannotConfine. Blocks."""
    found = probe.found()
    if not found.holds:
        raise CannotConfine(f'its configuration says "sandbox", and {found.words}')
    temporary = paths.data_directory() / "servers"
    temporary.mkdir(mode=0o700, exist_ok=True)
    empty = paths.data_directory() / "empty"
    empty.touch(mode=0o400)
    make_caches()
    around = policy([], temporary)
    around = replace(around, shown=(*around.shown, folder.resolve()))  # also where it is a temporary folder
    command = bubblewrap.server(argv, around, folder, empty)
    return command, {**environment(environ), **given}

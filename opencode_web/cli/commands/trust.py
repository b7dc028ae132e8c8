"""`opencode-web trust`: what a project asks for, and the person's word on it, without a page."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agents.agent import trust as state
from agents.config.trust.wants import Want
from opencode_web.cli.setup import project_directory
from opencode_web.cli.terminal import Stop, plain, say
from sessions.core import variables
from sessions.core.files import BrokenFile
from sessions.core.platform.peers import MARK


def trust(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop where nobody can be asked, or the answer is no (1)."""
    directory = project_directory(arguments.path) if arguments.path else directory
    act: Callable[[Path], None] = _ask
    if arguments.list:
        act = _list
    elif arguments.show:
        act = _show
    elif arguments.revoke:
        act = _revoke
    elif arguments.yes:
        act = _grant
    act(directory)


def _ask(directory: Path) -> None:
    asked = _told(state.untrusted(directory))
    if not asked:
        return
    if not sys.stdin.isatty():
        raise Stop("nothing was trusted: nobody can be asked here, so add --yes", 2)
    if input("Trust exactly this? [y/N] ").strip().lower() not in ("y", "yes"):
        raise Stop("nothing was trusted")
    _keep(directory, asked)


def _grant(directory: Path) -> None:
    if asked := _told(state.untrusted(directory)):
        _keep(directory, asked)


def _told(asked: Sequence[Want]) -> Sequence[Want]:
    for want in asked:
        _say(want)
    if not asked:
        say("nothing waits for your trust")
    return asked


def _keep(directory: Path, asked: Sequence[Want]) -> None:
    if MARK in os.environ:
        raise Stop("a command of the agent trusts nothing: do it in a terminal of your own")
    try:
        state.trust(directory, state.fingerprint(asked))
    except state.Changed as error:
        raise Stop(str(error)) from error
    say(f"trusted: {', '.join(plain(want.name) for want in asked)}")


def _show(directory: Path) -> None:
    """With the contents and the hash of each, and how the environment names them all."""
    wants = state.wants(directory)
    for want in wants:
        _say(want, "trusted" if want.trusted else "waits")
        say(f"  {want.hash}")
        for content in want.contents:
            for line in content.text.splitlines():
                say(f"  | {_line(line)}")
    if wants:
        say(f"{variables.TRUST.name}={','.join(want.hash for want in wants)}")
    else:
        say("this project asks for nothing that takes trust")


def _say(want: Want, standing: str = "waits") -> None:
    say(f"{', '.join(plain(content.name) for content in want.contents)}: {standing}")
    for wish in want.wishes:
        key = f"{plain(wish.key)}: " if wish.key else ""
        say(f"  {key}{wish.words}{f' {plain(wish.detail)}' if wish.detail else ''}")


def _line(text: str) -> str:
    """As it stands, with its indentation."""
    return text[: len(text) - len(text.lstrip(" \t"))].expandtabs(4) + plain(text)


def _list(directory: Path) -> None:
    """Of every project."""
    known: Mapping[str, Mapping[str, str]]
    try:
        known = state.trusted()
    except (OSError, BrokenFile) as error:
        raise Stop(f"what is trusted cannot be read: {error}") from error
    for worktree, files in sorted(known.items()):
        say(plain(worktree))
        for name, sha in sorted(files.items()):
            say(f"  {plain(str(sha))[:12]}  {plain(name)}")
    if not known:
        say("nothing is trusted")


def _revoke(directory: Path) -> None:
    state.revoke(directory)
    say(f"nothing of {plain(str(directory))} is trusted any longer")

"""`backup` and `restore`."""

from __future__ import annotations

import argparse
import os
import sys
from getpass import getpass
from pathlib import Path

from opencode_web import backup, paths
from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import say

VARIABLE = "OPENCODE_WEB_PASSPHRASE"


def make(arguments: argparse.Namespace, _: Path) -> None:
    """Write a backup. Raise Stop where there is none to be had."""
    passphrase = _passphrase(twice=True) if arguments.credentials else ""
    target = Path(arguments.target).expanduser()
    try:
        made = backup.back_up(target, passphrase)
    except backup.Refused as error:
        raise Stop(str(error)) from error
    say(f"Backed up {made.files:,} files ({_size(made.size)}) to {target}")
    left = ", ".join(backup.LEFT_OUT)
    say(f"Left out: {left}{'' if passphrase else ', and all credentials (--credentials takes them along)'}")


def restore(arguments: argparse.Namespace, _: Path) -> None:
    """Put a backup in place. Raise Stop where it cannot be."""
    passphrase = _passphrase(twice=False) if arguments.credentials else ""
    source = Path(arguments.source).expanduser()
    try:
        done = backup.restore(source, passphrase)
    except backup.Refused as error:
        raise Stop(str(error)) from error
    say(f"Restored {done.files:,} files ({_size(done.size)}) of {done.made} into {paths.data_directory()}")
    if done.credentials and not passphrase:
        say("The credentials in it were left out (--credentials restores them)")


def _passphrase(*, twice: bool) -> str:
    if given := os.environ.get(VARIABLE):
        return given
    if not sys.stdin.isatty():
        raise Stop(f"set {VARIABLE} to the passphrase of the credentials", 2)
    text = getpass("Passphrase of the credentials: ")
    if not text or (twice and getpass("The same again: ") != text):
        raise Stop("the passphrases are not the same" if text else "the passphrase is empty", 2)
    return text


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"

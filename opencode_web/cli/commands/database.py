"""`opencode-web db path`: the file of the database. What else is done with it is `backup` and `doctor`."""

from __future__ import annotations

import argparse
from pathlib import Path

from opencode_web.cli.terminal import Stop, say
from sessions.changes.upkeep.copies import database


def path(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop where the database is no file."""
    file = database()
    if file is None:
        raise Stop("the database is no file, but on a server")
    say(str(file))

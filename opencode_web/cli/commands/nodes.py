"""`opencode-web node`: the machines of a team."""

from __future__ import annotations

import argparse
from pathlib import Path

from django.conf import settings

from opencode_web.cli.terminal import Stop, say, table
from opencode_web.team import ALIAS
from sessions.core import variables
from sessions.core.db import in_db_sync


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop outside of a team."""
    _require_team()
    from opencode_web.nodes import registry

    rows = [
        (
            node.name,
            "lives" if node.lives else "away",
            node.address,
            node.version,
            str(node.load.get("turns", 0)) if node.lives else "",
        )
        for node in in_db_sync(registry.nodes)
    ]
    if rows:
        table(("Name", "State", "Address", "Version", "Turns"), rows)
    else:
        say("No machine has joined.")


def forget(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for a name that no machine has which is away."""
    _require_team()
    from opencode_web.nodes import registry

    if not in_db_sync(registry.forget, arguments.name):
        raise Stop(f"there is no node {arguments.name} that is away")


def _require_team() -> None:
    if ALIAS not in settings.DATABASES:
        raise Stop(
            f"this is no machine of a team: set {variables.NODE.name} or {variables.FRONT.name}=1, and "
            f"{variables.DATABASE.name}",
            2,
        )

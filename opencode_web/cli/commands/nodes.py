"""`opencode-web node`: the machines of a team."""

from __future__ import annotations

import argparse
import asyncio
import re
import socket
from datetime import datetime, timedelta
from datetime import time as clock_time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
from django.conf import settings

from opencode_web import team
from opencode_web.cli.terminal import Stop, complain, plain, say, table
from opencode_web.site.security.hosts import is_loopback
from opencode_web.team import ALIAS
from sessions.core import variables
from sessions.core.db import in_db_sync

if TYPE_CHECKING:
    from opencode_web.nodes.parking.restoring import Offer


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop outside of a team."""
    _require_team()
    from opencode_web.nodes import overview, registry

    rows = [
        (
            node.name,
            overview.state(node),
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


def drain(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for a name that no machine has."""
    _drain(arguments.name, draining=True)


def undrain(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for a name that no machine has."""
    _drain(arguments.name, draining=False)


def _drain(name: str, *, draining: bool) -> None:
    _require_team()
    from opencode_web.nodes import registry

    if not in_db_sync(registry.drain, name, draining=draining):
        raise Stop(f"there is no node {name}")


def invite(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop outside of a team."""
    _require_team()
    from opencode_web.nodes import invitations

    token = in_db_sync(invitations.invite)
    say(
        f"On the machine that joins, with the address of a front, within {invitations.SECONDS // 60} minutes:"
    )
    say(f"  opencode-web node join https://HOST --token {token}")


def join(arguments: argparse.Namespace, directory: Path) -> None:
    """Ask a front what all of the team have, signed in by the password in the environment, and keep it in the
    data folder. Raise Stop."""
    url = urlsplit(arguments.url)
    if url.scheme != "https" and not is_loopback(url.hostname or ""):
        raise Stop("the front tells the team's secret: name its address with https://", 2)
    name = arguments.name or re.sub(r"[^a-z0-9-]+", "-", socket.gethostname().lower()).strip("-")
    given = {variables.NODE.name: name}
    if not team.node(given):
        raise Stop(f"a machine needs a name: --name, or {variables.NODE.name}", 2)
    account = (variables.USERNAME.read(), variables.PASSWORD.read())
    try:
        answer = httpx.post(
            f"{arguments.url.rstrip('/')}/machines/join", data={"token": arguments.token}, auth=account
        )
        told = answer.json() if answer.headers.get("content-type", "").startswith("application/json") else {}
    except (httpx.HTTPError, ValueError) as error:
        raise Stop(f"{arguments.url} could not be asked: {error}") from error
    if not answer.is_success:
        raise Stop(plain(str(told.get("message") or f"{arguments.url} answered {answer.status_code}")))
    team.join({**told, **given})
    say(f"This machine is {name} from its next start on: opencode-web serve --hostname ADDRESS FOLDER")


def restore(arguments: argparse.Namespace, directory: Path) -> None:
    """Show what would come here and what is newer than that, ask, and have it come. Raise Stop."""
    _require_team()
    if not settings.NODE:
        raise Stop(f"a project comes to a node: set {variables.NODE.name}", 2)
    from opencode_web.nodes.parking import restoring

    node, _, project = arguments.workspace.partition(":")
    at = _end_of(arguments.at) if arguments.at else 0
    try:
        offered = asyncio.run(restoring.offer(node, in_db_sync(_project, node, project), at))
        into = Path(arguments.into or offered.workspace.path).expanduser().absolute()
        _show(offered, into)
        if not arguments.yes and input("Have it go on here? [y/N] ").strip().lower() not in ("y", "yes"):
            return
        done = asyncio.run(restoring.restore(offered, into))
    except restoring.NotRestored as problem:
        raise Stop(plain(str(problem))) from problem
    say(f"It goes on here, in {done.project.worktree}.")
    if done.without:
        complain(plain(f"its repository is not there: {done.without}"))


def _project(node: str, named: str) -> str:
    """The id of a workspace's project, by it, its folder, or its name if only one has it."""
    from opencode_web.nodes import workspaces

    rows = workspaces.at_node(node)
    exact = [row.project for row in rows if named in (row.project, row.path)]
    found = exact or [row.project for row in rows if row.name == named]
    if len(found) != 1:
        listed = ", ".join(row.path for row in rows) or "none"
        raise Stop(plain(f"{node} has no one project {named}; its projects are: {listed}"))
    return found[0]


def _end_of(minute: str) -> int:
    """Its last millisecond, by this machine's clock; of a minute without a day the last one that was."""
    try:
        if "T" in minute:
            return int(datetime.fromisoformat(minute).timestamp() * 1000) + 59_999
        time = datetime.combine(datetime.now(), clock_time.fromisoformat(minute))
    except ValueError as error:
        raise Stop(f"{minute!r} is no minute like 14:02 or 2030-01-31T14:02", 2) from error
    if time > datetime.now():
        time -= timedelta(days=1)
    return int(time.timestamp() * 1000) + 59_999


def _show(offered: Offer, into: Path) -> None:
    row, state = offered.workspace, offered.state
    if offered.lives:
        say(
            plain(f"{row.path} of {row.node} is parked as it is now, and closed there; it goes on in {into}.")
        )
        return
    when = datetime.fromtimestamp(state.time / 1000).astimezone()
    say(
        plain(f"{row.path} of {row.node}, which is away, as it was at {when:%Y-%m-%d %H:%M:%S}, into {into}.")
    )
    for session in offered.newer:
        say(plain(f"  newer: {session.title}, {session.messages} messages, {session.edits} changes of files"))
    if not offered.newer:
        say("  Nothing is known that is newer.")
    for path in state.left_out:
        say(plain(f"  left out, as no snapshot has it: {path}"))


def _require_team() -> None:
    if ALIAS not in settings.DATABASES:
        raise Stop(
            f"this is no machine of a team: set {variables.NODE.name} or {variables.FRONT.name}=1, and "
            f"{variables.DATABASE.name}",
            2,
        )

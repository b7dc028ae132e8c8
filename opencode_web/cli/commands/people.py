"""`opencode-web people`: who may sign in, where a server has people."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings

from opencode_web.cli.link import DEFAULT_HOSTNAME, DEFAULT_PORT
from opencode_web.cli.terminal import Stop, plain, say, table
from sessions.core import holding, paths, variables
from sessions.core.db import in_db_sync
from sessions.core.roles import Role

if TYPE_CHECKING:
    from opencode_web.people.models import Person


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop where a server has no people; so do the others."""
    _require_people()
    from opencode_web.people import store

    rows = [
        (
            plain(row.person.name),
            str(Role(row.person.role).label),
            "" if row.person.is_active else "switched off",
            str(len(row.sign_ins)),
            str(len(row.tokens)),
        )
        for row in in_db_sync(store.everybody)
    ]
    if rows:
        table(("Name", "Role", "State", "Sign-ins", "Tokens"), rows)
    else:
        say("There is nobody yet: opencode-web people add NAME --admin")


def add(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for a name or an address that is none or is taken."""
    _require_people()
    from opencode_web.people import store

    try:
        person = in_db_sync(store.add, arguments.name, Role(arguments.role), arguments.email)
    except store.Refused as problem:
        raise Stop(str(problem)) from problem
    say(_link(person, arguments.url))


def link(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for a name that nobody has; so do the next ones."""
    say(_link(_person(arguments.name), arguments.url))


def role(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop where nobody would administer."""
    _change(arguments.name, role=Role(arguments.role))


def switch(arguments: argparse.Namespace, directory: Path) -> None:
    _change(arguments.name, active=arguments.active)


def token(arguments: argparse.Namespace, directory: Path) -> None:
    person = _person(arguments.name)
    from opencode_web.people import store

    most = Role(arguments.role or person.role)
    say(in_db_sync(store.make_token, person, arguments.client, most))


def email(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for an address that is none or is taken."""
    person = _person(arguments.name)
    from opencode_web.people import store

    try:
        in_db_sync(store.change_email, person, arguments.address)
    except store.Refused as problem:
        raise Stop(str(problem)) from problem


def _change(name: str, role: Role | None = None, active: bool | None = None) -> None:
    person = _person(name)
    from opencode_web.people import store

    try:
        in_db_sync(store.change, person, role=role, active=active)
    except store.Refused as problem:
        raise Stop(str(problem)) from problem


def _person(name: str) -> Person:
    _require_people()
    from opencode_web.people import store

    person = in_db_sync(store.find, name)
    if person is None:
        raise Stop(f"there is nobody called {name}")
    return person


def _link(person: Person, url: str | None) -> str:
    """At the address that was given, that of the server that runs, or where it would run."""
    from opencode_web.people import store

    there = url or holding.server(paths.data_directory()) or f"http://{DEFAULT_HOSTNAME}:{DEFAULT_PORT}"
    place = urlsplit(there)
    return f"{place.scheme}://{place.netloc}{in_db_sync(store.link_for, person)}"


def _require_people() -> None:
    if not settings.PEOPLE:
        raise Stop(f"this server has one login and no people: set {variables.TEAM.name}=1", 2)

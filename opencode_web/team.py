"""What this process is in a team, as the environment says: a node, a front, or neither
(docs/decisions/0050)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from opencode_web import base_path as base_paths
from sessions.core import paths, variables
from sessions.core.files import PRIVATE, replace_file

ALIAS = "team"
"""The connection of what all of a team share."""
SHARED = "opencode_team"
"""Its schema."""
PATH = "/n/"
"""Below it each node has its name, and below that its pages."""
SHARED_VARIABLES = (variables.SECRET, variables.DATABASE, variables.PARK)
"""What is the same for all of a team, and is told a machine that joins."""
_FRONT = "opencode_front"
PACKAGES = "pip install 'opencode-web[team]'"
_PLACE = re.compile(r"s3://[^/]+.*|file:///.+")
_JOINED = "team.json"
_HERE = ("127.0.0.1", "::1", "localhost")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


def node(environ: Mapping[str, str]) -> str:
    """Its name; empty where this is none. Raises ImproperlyConfigured for what is no name."""
    name = variables.NODE.read(environ)
    if name and _NAME.fullmatch(name) is None:
        raise ImproperlyConfigured(
            f"{variables.NODE.name} is no name like build-2: it begins with a small letter, and has small "
            "letters, digits and dashes, 40 at most"
        )
    return "" if is_front(environ) else name


def is_front(environ: Mapping[str, str]) -> bool:
    return variables.FRONT.is_true(environ)


def has_people(environ: Mapping[str, str]) -> bool:
    """Whether people sign in by their own names (docs/decisions/0052)."""
    return variables.TEAM.is_true(environ)


@dataclass(frozen=True, slots=True)
class Issuer:
    """Of OpenID Connect, where people may sign in. `links`: its word on an e-mail address is taken."""

    address: str
    client_id: str
    client_secret: str
    name: str
    links: bool


def issuer(environ: Mapping[str, str]) -> Issuer | None:
    """None where there is none. Raises ImproperlyConfigured for one that nobody could sign in at, and where
    the packages for it are missing."""
    address = variables.OIDC_ISSUER.read(environ)
    if not address:
        return None
    place = urlsplit(address)
    if place.scheme != "https" and (place.scheme != "http" or place.hostname not in _HERE):
        raise ImproperlyConfigured(f"{variables.OIDC_ISSUER.name} has to begin with https://: {address!r}")
    client_id, link = variables.OIDC_CLIENT_ID.read(environ), variables.OIDC_LINK.read(environ)
    if not client_id:
        raise ImproperlyConfigured(f"{variables.OIDC_ISSUER.name} takes {variables.OIDC_CLIENT_ID.name} too")
    if link not in ("", "email"):
        raise ImproperlyConfigured(f"{variables.OIDC_LINK.name} is `email` or not set: {link!r}")
    if find_spec("jwt") is None or find_spec("requests") is None:
        raise ImproperlyConfigured(
            f"{variables.OIDC_ISSUER.name} is set, but its packages are missing: {PACKAGES}"
        )
    secret, name = variables.OIDC_CLIENT_SECRET.read(environ), variables.OIDC_NAME.read(environ)
    return Issuer(address, client_id, secret, name, link == "email")


def park(environ: Mapping[str, str]) -> str:
    """Where a node parks states of its projects; empty for nowhere. Raises ImproperlyConfigured for what is
    no such place, and where the package for it is missing."""
    address = variables.PARK.read(environ)
    if not address or not node(environ):
        return ""
    if _PLACE.fullmatch(address) is None:
        raise ImproperlyConfigured(
            f"{variables.PARK.name} is no place like s3://bucket/prefix or file:///folder: {address!r}"
        )
    if find_spec("obstore") is None:
        raise ImproperlyConfigured(f"{variables.PARK.name} is set, but its packages are missing: {PACKAGES}")
    return address


def join(told: Mapping[str, str]) -> None:
    """Keep what a machine was told when it joined, for its own eyes. Raises OSError."""
    known = {variable.name for variable in (*SHARED_VARIABLES, variables.NODE)}
    kept = {name: value for name, value in told.items() if name in known}
    replace_file(paths.data_directory() / _JOINED, json.dumps(kept).encode(), PRIVATE)


def remember() -> None:
    """Have the environment say what a machine was told when it joined, where it says nothing else. Raises
    ImproperlyConfigured where that cannot be read."""
    path = paths.data_home() / "opencode-web" / _JOINED
    try:
        kept = json.loads(path.read_bytes())
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"{path} cannot be read: {error}") from error
    for name, value in kept.items():
        os.environ.setdefault(name, value)


def schema(environ: Mapping[str, str]) -> str:
    """Where its own rows are; empty outside of a team."""
    if is_front(environ):
        return _FRONT
    name = node(environ)
    return schema_of(name) if name else ""


def schema_of(name: str) -> str:
    """Where the rows of a node are."""
    return f"opencode_node_{name.replace('-', '_')}"


def front_path(environ: Mapping[str, str]) -> str:
    """Where from a node's pages the front is that passes them on; empty where this is no node."""
    return f"{base_paths.configured(environ)}/" if node(environ) else ""


def base_path(environ: Mapping[str, str]) -> str:
    """The path below which this process has its pages: of a node the one by which fronts pass them on."""
    base, name = base_paths.configured(environ), node(environ)
    return f"{base}{PATH}{name}" if name else base

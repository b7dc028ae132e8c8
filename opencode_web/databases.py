"""Which database the rows are in: a file of SQLite, or a PostgreSQL that the environment names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from opencode_web import team
from sessions.core import variables

VARIABLE = variables.DATABASE.name
_SHAPE = f"{VARIABLE} is no address of a PostgreSQL, as in postgres://name:password@host:5432/database"
_SERVER = {
    "application_name": "opencode-web",
    "client_encoding": "UTF8",
    "connect_timeout": "3",
    "tcp_user_timeout": "5000",
    "keepalives_idle": "10",
    "keepalives_interval": "2",
    "keepalives_count": "3",
}
"""Parameters of libpq: a server, or a way to it, that is gone is noticed within seconds."""
_SESSION = {
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "5s",
}
"""Who stands still in a transaction, in which nobody else writes, is ended before others give up."""


def every(environ: Mapping[str, str], folder: Path) -> dict[str, dict[str, Any]]:
    """Django's DATABASES. A node or a front of a team has its rows in a schema of its own, and `team` is the
    one that they share (docs/decisions/0050). Raises ImproperlyConfigured as `configured` does, and where a
    team has no PostgreSQL."""
    schema = team.schema(environ)
    if schema and not variables.DATABASE.read(environ):
        raise ImproperlyConfigured(
            f"a node or a front of a team has its rows in a PostgreSQL: set {VARIABLE}"
        )
    found = {"default": configured(environ, folder, schema)}
    return found | {team.ALIAS: configured(environ, folder, team.SHARED)} if schema else found


def configured(environ: Mapping[str, str], folder: Path, schema: str = "") -> dict[str, Any]:
    """An entry of it; `folder` is where SQLite keeps its file, `schema` where in a PostgreSQL the tables are.
    Raises ImproperlyConfigured for what is no address, and where the packages for it are missing."""
    address = variables.DATABASE.read(environ)
    if not address:
        return _sqlite(folder)
    if find_spec("psycopg") is None:
        raise ImproperlyConfigured(f"{VARIABLE} is set, but its packages are missing: {team.PACKAGES}")
    return _postgresql(address, {**_SESSION, **({"search_path": schema} if schema else {})})


def _sqlite(folder: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": folder / "db.sqlite3",
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        },
        "TEST": {"NAME": folder / "test.sqlite3"},
    }


def _postgresql(address: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """What the address has behind `?` are parameters of libpq, and come before ours."""
    try:
        parts = urlsplit(address)
        port = str(parts.port or "")
        given = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError as error:
        raise ImproperlyConfigured(f"{_SHAPE}: {error}") from error
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme not in ("postgres", "postgresql") or not name or "/" in name:
        raise ImproperlyConfigured(_SHAPE)
    session = " ".join(f"-c {name}={value}" for name, value in settings.items())
    return {
        "ENGINE": "sessions.core.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or given.pop("host", "")),
        "PORT": port or given.pop("port", ""),
        "CONN_MAX_AGE": None,
        "OPTIONS": {**_SERVER, **given, "options": f"{session} {given.get('options', '')}".strip()},
    }

"""A plugin of pytest (`make test-postgres`): the rows are in a PostgreSQL, of the tests as of the servers
that they start, each in a database of its own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.postgres_server import PostgresServer, programs

_VARIABLE = "TESTS_ON_POSTGRES"
"""The folder of the server, for workers of pytest-xdist."""
_TESTS = "tests"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any settings are read. The workers have the server of the run."""
    if _VARIABLE in os.environ:
        return
    there = programs()
    if there is None:
        raise pytest.UsageError("PostgreSQL is not installed; `make machine` installs it where there is apt")
    begun = PostgresServer(there)
    early_config.add_cleanup(begun.remove)
    begun.create()
    begun.make(_TESTS)
    os.environ[_VARIABLE] = str(begun.folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "sqlite" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="of SQLite"))


def pytest_configure(config: pytest.Config) -> None:
    config.option.reuse_db = True  # all of the server goes away at the end


def server() -> PostgresServer | None:
    """The one of this run; None where it has none."""
    folder, there = os.environ.get(_VARIABLE), programs()
    return PostgresServer(there, Path(folder)) if folder and there else None


def environment(home: Path | None = None) -> dict[str, str]:
    """What names the database to settings: a migrated one for the server with this home, the same each time;
    without a home that of the tests, beside which Django makes one for each process. Nothing without the
    plugin."""
    there = server()
    if there is None:
        return {}
    return {"OPENCODE_WEB_DATABASE": there.url(database_for(there, home) if home else _TESTS)}


def database_for(there: PostgresServer, home: Path) -> str:
    """The name of a migrated one for the server with this home."""
    name = "home_" + hashlib.sha256(os.fsencode(home)).hexdigest()[:24]
    if not there.has(name):
        there.make(name, _migrated(there))
    return name


@cache
def _migrated(there: PostgresServer) -> str:
    name = f"migrated_{os.getpid()}"
    there.make(name)
    environ = {
        **os.environ,
        "OPENCODE_WEB_DATABASE": there.url(name),
        "DJANGO_SETTINGS_MODULE": "opencode_web.settings",
    }
    prepare = "from opencode_web.site import database; database.prepare()"
    subprocess.run(
        [sys.executable, "-c", f"import django; django.setup(); {prepare}"], env=environ, check=True
    )
    return name

"""What every test shares: a home of its own, kept apart from the user's files, Django, and the
programs that pip cannot install."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import django
import pytest
from django.test import AsyncClient
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, settings

from sessions.core.platform import signals
from tests import on_postgres, postgres_server
from tests.guarded import GuardedClient
from tests.postgres_server import PostgresServer
from tests.redis_server import RedisServer

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""The first is the same engine without a window of its own, which costs a third of the time of a test."""
USER_ENVIRON = dict(os.environ)
_home = tempfile.TemporaryDirectory(prefix="opencode-web-tests-")


def _move_home(home: Path) -> None:
    """Point HOME and the XDG folders into `home`; forget keys, git's and OpenCode's settings, Redis."""
    for name in list(os.environ):
        if name.startswith(("OPENCODE_", "GIT_", "REDIS_")) or name.endswith("_API_KEY"):
            del os.environ[name]
    os.environ["HOME"] = str(home)
    for kind, folder in {
        "DATA": ".local/share",
        "STATE": ".local/state",
        "CONFIG": ".config",
        "CACHE": ".cache",
    }.items():
        (home / folder).mkdir(parents=True)
        os.environ[f"XDG_{kind}_HOME"] = str(home / folder)


def _be_patient(seconds: float = 30) -> None:
    """With httpx's clients that are given no time of their own: 5 s are a busy machine's for a first page."""
    for phase in ("connect", "read", "write", "pool"):
        setattr(DEFAULT_TIMEOUT_CONFIG, phase, seconds)


signals.reset()
_be_patient()
# How long an example takes says something of the machine only.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")
# At import and not in pyproject.toml: pytest-django would load the settings there before this file.
_move_home(Path(_home.name))
os.environ.update(on_postgres.environment())
os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
django.setup()
del os.environ["DJANGO_SETTINGS_MODULE"]  # a worker would load the settings before it has a home of its own


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of pytest-xdist begins with the home of the run and is told the user's environment."""
    node.workerinput["user_environ"] = USER_ENVIRON


def pytest_configure(config: Any) -> None:
    if hasattr(config, "workerinput"):
        USER_ENVIRON.clear()
        USER_ENVIRON.update(config.workerinput["user_environ"])


@pytest.fixture(scope="session")
def user_environ() -> dict[str, str]:
    """The environment the run was started with, for installers that need the user's caches and settings."""
    return dict(USER_ENVIRON)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Path of an installed Chromium or Chrome; see `_program`."""
    return _program(*BROWSERS)


@pytest.fixture(scope="session")
def tmux_path() -> str:
    """Path of tmux; see `_program`."""
    return _program("tmux")


@pytest.fixture(scope="session")
def strace_path() -> str:
    """Path of strace; see `_program`."""
    return _program("strace")


@pytest.fixture
def async_client() -> AsyncClient:
    return GuardedClient()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that answers; see `_program`."""
    server = RedisServer(_program("redis-server"), tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL of its own that answers; see `_program`."""
    there = postgres_server.programs()
    if there is None:
        _leave_out("PostgreSQL")
    server = PostgresServer(there)
    server.create()
    yield server
    server.remove()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out, and say so, what needs /proc where there is none; what is long has an hour."""
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.timeout(3600))
    if not Path("/proc/self").exists():
        for item in items:
            if "proc" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="there is no /proc"))


def _program(*names: str) -> str:
    """The path of the first that is installed.

    Without one the test fails in CI (`CI` or `OPENCODE_WEB_REQUIRE_PROGRAMS` set) and is skipped elsewhere.
    """
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        _leave_out(" or ".join(names))
    return found


def _leave_out(wanted: str) -> NoReturn:
    reason = f"not installed: {wanted}; `make test` installs it where there is apt"
    if USER_ENVIRON.get("CI") or USER_ENVIRON.get("OPENCODE_WEB_REQUIRE_PROGRAMS"):
        pytest.fail(reason)
    pytest.skip(reason)

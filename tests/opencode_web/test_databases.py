"""What OPENCODE_WEB_DATABASE may say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from opencode_web import databases

ADDRESS = "postgres://ada:p%40ss@db.example:6432/rows?sslmode=verify-full&connect_timeout=9"


def test_without_an_address_the_rows_are_in_a_file(tmp_path: Path) -> None:
    found = databases.configured({}, tmp_path)
    assert found["ENGINE"] == "django.db.backends.sqlite3"
    assert found["NAME"] == tmp_path / "db.sqlite3"


def test_a_file_needs_no_psycopg(tmp_path: Path) -> None:
    prepare = "import django, sys; django.setup(); from opencode_web.site import database; database.prepare()"
    environ = {name: value for name, value in os.environ.items() if name != databases.VARIABLE}
    environ |= {"XDG_DATA_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "opencode_web.settings"}
    code = f"{prepare}; assert 'psycopg' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], env=environ, check=True)


def test_an_address_names_all_there_is_to_know(tmp_path: Path) -> None:
    found = databases.configured({databases.VARIABLE: ADDRESS}, tmp_path)
    parts = {name: found[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
    assert parts == {"NAME": "rows", "USER": "ada", "PASSWORD": "p@ss", "HOST": "db.example", "PORT": "6432"}
    options = found["OPTIONS"]
    assert options["sslmode"] == "verify-full"
    assert options["connect_timeout"] == "9", "what the address says comes first"
    assert options["tcp_user_timeout"] == "5000"
    assert "statement_timeout" in options["options"]


def test_a_folder_with_a_socket_is_a_host(tmp_path: Path) -> None:
    found = databases.configured({databases.VARIABLE: "postgresql:///rows?host=/run/pg&port=6432"}, tmp_path)
    assert (found["HOST"], found["PORT"]) == ("/run/pg", "6432")
    assert "host" not in found["OPTIONS"]


@pytest.mark.parametrize(
    "address",
    ["mysql://host/rows", "rows", "postgres://host", "postgres://host:x/rows", "postgres://host/a/b"],
)
def test_what_is_no_address_is_said(address: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="no address of a PostgreSQL"):
        databases.configured({databases.VARIABLE: address}, tmp_path)


def test_missing_packages_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"pip install 'opencode-web\[team\]'"):
        databases.configured({databases.VARIABLE: ADDRESS}, tmp_path)

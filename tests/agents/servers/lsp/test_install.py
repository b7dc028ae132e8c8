"""Installing language servers from the registries, each into a folder of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from pytest_django import Settings

from agents.servers.lsp.finding import READY, Found, Missing, find, folder_of
from agents.servers.lsp.install import Installation, Installer, by_hand
from agents.servers.lsp.matrix.row import Package, Row, npm
from agents.servers.lsp.matrix.table import BUILTIN

ROWS = {row.id: row for row in BUILTIN}
WAIT = 300.0


@pytest.fixture
def folder(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, user_environ: dict[str, str]
) -> Path:
    """With the user's settings of npm and pip."""
    settings.SERVER_DIR = tmp_path / "servers"
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        if value := user_environ.get(name):
            monkeypatch.setenv(name, value)
        else:
            monkeypatch.delenv(name, raising=False)
    return tmp_path


async def installed(row: Row) -> Installation:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    found = Installer().begin(row, lambda: loop.call_soon_threadsafe(ended.set))
    async with asyncio.timeout(WAIT):
        await ended.wait()
    return found


async def test_a_package_of_npm_is_installed_and_found(folder: Path) -> None:
    row = ROWS["dockerfile"]
    assert isinstance(row.install, Package)
    project = folder / "project"
    assert isinstance(find(row, project, project), Missing)
    done = await installed(row)
    assert (done.status, done.problem) == ("done", "")
    assert json.loads((folder_of(row) / READY).read_text()) == {"packages": list(row.install.names)}
    found = find(row, project, project)
    assert isinstance(found, Found)
    assert Path(found.argv[0]).is_relative_to(folder / "servers")
    assert "--ignore-scripts" in done.log.lines()[0]


@pytest.mark.long
async def test_a_package_of_pypi_is_installed_and_found(folder: Path) -> None:
    row = ROWS["ruff"]
    done = await installed(row)
    assert (done.status, done.problem) == ("done", "")
    assert (folder_of(row) / "venv" / "bin" / "ruff").exists()


@pytest.mark.parametrize(
    ("package", "problem"),
    [
        ("not-there", "not-there"),
        ("empty", "The package has no program x."),
        ("broken", "it cannot begin"),
    ],
)
async def test_what_does_not_work_is_not_kept(package: str, problem: str, folder: Path) -> None:
    for name, programs in {"empty": {}, "broken": {"x": "x.sh"}}.items():
        made = folder / name
        made.mkdir()
        description = {"name": name, "version": "1.0.0", "bin": programs}
        (made / "package.json").write_text(json.dumps(description))
        (made / "x.sh").write_text("#!/bin/sh\necho it cannot begin >&2\nexit 1\n")
        (made / "x.sh").chmod(0o755)
    row = Row("gone", "Gone", (".x",), (("x",),), npm(str(folder / package)))
    done = await installed(row)
    assert done.status == "failed"
    assert problem in done.problem
    assert not folder_of(row).exists()


async def test_one_that_is_under_way_is_not_begun_again(folder: Path) -> None:
    installer = Installer()
    row = Row("gone", "Gone", (".x",), (("x",),), npm(str(folder / "not-there")))
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    first = installer.begin(row, lambda: loop.call_soon_threadsafe(ended.set))
    assert installer.begin(row, ended.set) is first
    async with asyncio.timeout(WAIT):
        await ended.wait()
    assert installer.of(row) is first


def test_a_person_is_told_the_command() -> None:
    assert by_hand(ROWS["vue"]) == "npm install --global @vue/language-server@2 typescript@5.9"
    assert by_hand(ROWS["ruff"]) == "pip install ruff"
    assert by_hand(ROWS["gopls"]) == "go install golang.org/x/tools/gopls@latest"

"""Where programs of language servers are found, and which TypeScript they are told of."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import Settings

from agents.servers.lsp.finding import READY, Found, Missing, find, folder_of, programs_of
from agents.servers.lsp.matrix.table import BUILTIN

ROWS = {row.id: row for row in BUILTIN}


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def tsserver(folder: Path) -> Path:
    file = folder / "node_modules" / "typescript" / "lib" / "tsserver.js"
    file.parent.mkdir(parents=True)
    file.touch()
    return file


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Path:
    """With nothing on PATH but what is in `bin` beside it."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    settings.SERVER_DIR = tmp_path / "servers"
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_path_comes_first_then_ours_then_the_project_s(project: Path, tmp_path: Path) -> None:
    row = ROWS["ruff"]
    assert find(row, project, project) == Missing("ruff was not found.")
    own = program(project / ".venv" / "bin" / "ruff")
    assert find(row, project, project) == Found((own, "server"), {}, (Path(own),))
    ours = program(programs_of(row) / "ruff")
    assert find(row, project, project) == Found((own, "server"), {}, (Path(own),)), "not installed whole"
    (folder_of(row) / READY).touch()
    assert find(row, project, project) == Found((ours, "server"), {})
    users = program(tmp_path / "bin" / "ruff")
    assert find(row, project, project) == Found((users, "server"), {})


def test_programs_of_the_user_s_tools_are_found(project: Path) -> None:
    gopls = program(Path.home() / "go" / "bin" / "gopls")
    assert find(ROWS["gopls"], project, project) == Found((gopls,), {})
    os.unlink(gopls)


def test_a_package_s_programs_count_before_those_around_it(project: Path) -> None:
    outer = program(project / "node_modules" / ".bin" / "biome")
    inner = program(project / "web" / "node_modules" / ".bin" / "biome")
    for folder, expected in ((project / "web", inner), (project, outer)):
        found = find(ROWS["biome"], folder, project)
        assert isinstance(found, Found)
        assert (found.argv[0], found.code) == (expected, (Path(expected),))


def test_path_that_leads_into_the_project_is_the_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(project / "bin" / "gopls")
    monkeypatch.setenv("PATH", f"bin:{project / 'bin'}")
    assert isinstance(find(ROWS["gopls"], project, project), Missing)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gopls").symlink_to(project / "bin" / "gopls")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert isinstance(find(ROWS["gopls"], project, project), Missing), "a link into it"


def test_a_command_of_the_configuration_is_taken_as_it_is(project: Path, tmp_path: Path) -> None:
    row = replace(ROWS["ruff"], commands=(("tools/ruff", "x"),), own_command=True)
    assert isinstance(find(row, project, project), Missing)
    path = program(project / "tools" / "ruff")
    assert find(row, project / "deep", project) == Found((path, "x"), {}), "the person wrote it: no trust"
    named = program(tmp_path / "bin" / "mine")
    assert find(replace(row, commands=(("mine",),)), project, project) == Found((named,), {})


def test_the_project_s_typescript_is_the_last_that_is_taken(project: Path, tmp_path: Path) -> None:
    row = ROWS["typescript"]
    program(tmp_path / "bin" / "typescript-language-server")
    assert find(row, project, project) == Missing("There is no TypeScript for it.")
    theirs = tsserver(project)
    found = find(row, project / "web", project)
    assert isinstance(found, Found)
    assert (found.initialization, found.code) == ({"tsserver": {"path": str(theirs)}}, (theirs,))
    beside = tsserver(tmp_path)
    found = find(row, project / "web", project)
    assert isinstance(found, Found)
    assert (found.initialization, found.code) == ({"tsserver": {"path": str(beside)}}, ())

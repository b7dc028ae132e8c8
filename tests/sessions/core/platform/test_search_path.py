from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sessions.core.git import run_git
from sessions.core.platform import search_path

BEFORE = os.environ["PATH"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose programs come first on PATH, one of them by the name of git."""
    for name, value in {"_known": set(), "_left_out": set(), "_persons": "", "_own": ""}.items():
        monkeypatch.setattr(search_path, name, value)
    folder = tmp_path / "project"
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("git", "only-here"):
        (programs / name).write_text("#!/bin/sh\necho of the project\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{BEFORE}")
    return folder


def found(name: str, path: str) -> str:
    return subprocess.run(
        ["/bin/sh", "-c", f"command -v {name}"],
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()


def test_a_program_of_a_project_is_the_persons_and_not_the_servers(project: Path) -> None:
    given, own = os.environ["PATH"], str(project / ".venv" / "bin" / "git")
    assert run_git(["--version"]) == b"of the project\n"
    search_path.leave_out(str(project))
    assert run_git(["--version"]).startswith(b"git version")
    assert search_path.program("git") != own
    assert search_path.persons() == given
    assert found("git", search_path.persons()) == own


def test_a_configuration_names_programs_of_a_project_that_take_no_others_place(project: Path) -> None:
    search_path.leave_out(str(project))
    own = project / ".venv" / "bin"
    assert found("only-here", search_path.configured()) == str(own / "only-here")
    assert found("git", search_path.configured()) == search_path.program("git") != str(own / "git")
    assert not found("only-here", os.environ["PATH"])


@pytest.mark.parametrize("way", ["link", "dots", "relative", "empty"])
def test_however_path_leads_there(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    (tmp_path / "link").symlink_to(project / ".venv" / "bin")
    monkeypatch.chdir(project / ".venv" / "bin")
    ways = {"link": f"{tmp_path}/link", "dots": f"{tmp_path}/other/../project/.venv/bin", "relative": "."}
    monkeypatch.setenv("PATH", f"{ways.get(way, '')}:{BEFORE}")
    search_path.leave_out(str(project))
    assert os.environ["PATH"] == BEFORE


def test_the_next_project_is_left_out_as_well(project: Path, tmp_path: Path) -> None:
    given = os.environ["PATH"]
    search_path.leave_out(str(tmp_path / "other"))
    assert os.environ["PATH"] == given
    search_path.leave_out(str(project))
    assert os.environ["PATH"] == BEFORE
    search_path.leave_out(str(tmp_path / "third"))
    assert search_path.persons() == given


def test_a_project_that_is_the_home_folder_takes_nothing_away(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    given = os.environ["PATH"]
    search_path.leave_out(str(project))
    assert os.environ["PATH"] == given

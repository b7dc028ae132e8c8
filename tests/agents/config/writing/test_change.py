"""Which file is written, and what of it is trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.config.loader import load
from agents.config.problem import Refused, Unreadable
from agents.config.writing import change

SERVER = {"mcp": {"x": {"type": "local", "command": ["x"]}}}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    (path / ".git").mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    ("there", "written"),
    [
        ([], "opencode.json"),
        (["opencode.json"], "opencode.json"),
        (["opencode.json", "opencode.jsonc"], "opencode.jsonc"),
        (["opencode.jsonc", ".opencode/opencode.json"], ".opencode/opencode.json"),
    ],
)
def test_the_file_that_counts_is_written(
    project: Path, environ: dict[str, str], there: list[str], written: str
) -> None:
    (project / ".opencode").mkdir()
    for name in there:
        (project / name).write_text('{"model": "a/b"}')
    change(project, {"model": "c/d"}, environ)
    assert json.loads((project / written).read_text())["model"] == "c/d"
    assert load(project, environ).config.model == "c/d"


def test_the_users_own_file_is_the_one_there_is_with_its_mode(environ: dict[str, str]) -> None:
    folder = Path(environ["HOME"]) / ".config" / "opencode"
    folder.mkdir(parents=True)
    elsewhere = Path(environ["HOME"]) / "dotfiles.json"
    elsewhere.write_text("")
    elsewhere.chmod(0o640)
    (folder / "opencode.json").symlink_to(elsewhere)
    change(None, {"username": "bob"}, environ)
    assert json.loads(elsewhere.read_text())["username"] == "bob"
    assert elsewhere.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in folder.iterdir()] == ["opencode.json"]


def test_nothing_is_written_for_nothing(project: Path, environ: dict[str, str]) -> None:
    change(project, {"username": None, "model": None}, environ)
    assert not (project / "opencode.json").exists()


def test_trust_goes_on_over_a_change_and_not_over_somebody_elses(
    project: Path, environ: dict[str, str]
) -> None:
    change(project, SERVER, environ)
    change(project, {"model": "a/b"}, environ)
    assert "x" in load(project, environ).config.mcp
    file = project / "opencode.json"
    file.write_text(file.read_text().replace('"x"\n', '"y"\n'))
    assert load(project, environ).config.mcp == {}
    change(project, {"model": "c/d"}, environ)
    assert load(project, environ).config.mcp == {}


def test_what_is_included_is_not_trusted_by_a_change(project: Path, environ: dict[str, str]) -> None:
    (project / "line.txt").write_text("true")
    server = {"type": "local", "command": ["sh", "-c", "{file:line.txt}"]}
    change(project, {"mcp": {"x": server}}, environ)
    assert "x" in load(project, environ).config.mcp
    (project / "line.txt").write_text("rm -rf ~")
    change(project, {"model": "a/b"}, environ)
    assert load(project, environ).config.mcp == {}


def test_a_rule_of_a_repository_does_not_become_the_users(project: Path, environ: dict[str, str]) -> None:
    (project / "opencode.json").write_text('{"permission": {"bash": "ask"}}')
    change(project, SERVER, environ)
    config = load(project, environ).config
    assert config.mcp == {}
    assert config.permission is None
    assert config.restrictions == {"bash": "ask"}


def test_a_rule_for_everything_goes_on_beside_one_for_something(
    project: Path, environ: dict[str, str]
) -> None:
    change(project, {"permission": {"bash": "deny"}}, environ)
    change(project, {"permission": {"bash": {"git *": "allow"}}}, environ)
    assert load(project, environ).config.permission == {"bash": {"*": "deny", "git *": "allow"}}


def test_what_cannot_be_written_is_said(project: Path, environ: dict[str, str]) -> None:
    with pytest.raises(Refused, match="OPENCODE_DISABLE_PROJECT_CONFIG"):
        change(project, {}, {**environ, "OPENCODE_DISABLE_PROJECT_CONFIG": "1"})
    (project / "opencode.json").mkdir()
    with pytest.raises(Unreadable, match="not a file"):
        change(project, {}, environ)
    (project / "opencode.jsonc").symlink_to("opencode.jsonc")
    with pytest.raises(Refused, match="leads nowhere"):
        change(project, {}, environ)

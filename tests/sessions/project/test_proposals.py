"""Commands that the files of a project name; nothing of them is run, and nothing in them is trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessions.project.proposals import MOST, proposals


def found(folder: Path) -> dict[str, str]:
    return {one.name: one.command for one in proposals(folder)}


def test_scripts_of_a_package_by_its_manager(tmp_path: Path) -> None:
    scripts = {"build": "x", "test": "y", "test:e2e": "z", "a; rm -rf /": "no", "-x": "no"}
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    assert found(tmp_path) == {
        "test": "npm run test",
        "build": "npm run build",
        "test:e2e": "npm run test:e2e",
    }
    (tmp_path / "pnpm-lock.yaml").touch()
    assert found(tmp_path)["test"] == "pnpm run test"


def test_targets_of_make_and_recipes_of_just(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(
        ".PHONY: test\nX := 1\ntest: a b\n\ttouch c\nrun::\n\techo\n%.o: %.c\nlint:\ntest: more\n"
    )
    assert found(tmp_path) == {"test": "make test", "lint": "make lint"}
    (tmp_path / "justfile").write_text("name := 'x'\ntest:\n  echo\nserve port='80':\n  echo\n@quiet:\n")
    assert found(tmp_path)["serve"] == "just serve"
    assert found(tmp_path)["quiet"] == "just quiet"
    assert found(tmp_path)["test"] == "make test", "the first has the name"


def test_tools_of_python(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.poe.tasks]\nserve = 'x'\n[tool.pytest.ini_options]\n[tool.ruff]\n[tool.hatch.envs.default]\n"
    )
    assert found(tmp_path) == {
        "serve": "poe serve",
        "test": "pytest",
        "lint": "ruff check",
        "format": "ruff format",
    }


def test_cargo_and_go(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n")
    assert found(tmp_path)["test"] == "go test ./..."
    (tmp_path / "Cargo.toml").write_text("[package]\n")
    assert found(tmp_path)["test"] == "cargo test"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scripts": []}', '{"scripts": null}', "[" * 50_000])
def test_what_cannot_be_read_proposes_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "package.json").write_text(text)
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "Makefile").mkdir()
    assert proposals(tmp_path) == []


def test_a_long_list_is_cut_after_the_usual_ones(tmp_path: Path) -> None:
    scripts = {f"one{number}": "x" for number in range(50)} | {"test": "y"}
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    names = list(found(tmp_path))
    assert len(names) == MOST
    assert names[0] == "test"

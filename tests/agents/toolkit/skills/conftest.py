from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from agents.toolkit import skills


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Path:
    """A home of its own with the folder of the configuration in it, and no skill of the program's own."""
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    settings.CONFIG_DIRS = [path / ".config" / "opencode"]
    monkeypatch.setattr(skills, "_OURS", skills.Place(tmp_path / "ours"))
    return path


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """The root of a repository; only its `.git` matters here."""
    path = tmp_path / "project"
    (path / ".git").mkdir(parents=True)
    return path


def write_skill(folder: Path, text: str = "Do it.", **fields: str) -> Path:
    """A `SKILL.md` in `folder`, whose name and a description are its fields unless given."""
    folder.mkdir(parents=True, exist_ok=True)
    fields = {"name": folder.name, "description": f"How to {folder.name}."} | fields
    head = "".join(f"{key}: {value}\n" for key, value in fields.items() if value)
    file = folder / "SKILL.md"
    file.write_text(f"---\n{head}---\n{text}\n")
    return file

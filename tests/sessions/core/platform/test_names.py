"""Names as their folder lists them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions.core.platform import names
from sessions.core.platform.names import as_listed


def test_what_is_listed_so_or_is_not_there_stays(tmp_path: Path) -> None:
    for name in ("a", "A", "1", "one.TXT"):
        (tmp_path / name).mkdir()
    for path in ("a/new", "A/New", "1/x", "One.txt/y", "one.TXT"):
        assert as_listed(tmp_path / path) == tmp_path / path


def test_another_spelling_becomes_that_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link and a listing without it stand for a file system that finds a file by any spelling."""
    (tmp_path / ".env").touch()
    os.link(tmp_path / ".env", tmp_path / ".ENV")

    class Listing:
        def __init__(self, folder: Path) -> None:
            self.names = [entry for entry in os.scandir(folder) if entry.name != ".ENV"]

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self.names

        def __exit__(self, *_: object) -> None:
            pass

    assert as_listed(tmp_path / ".ENV") == tmp_path / ".ENV"
    monkeypatch.setattr(names, "scandir", Listing)
    assert as_listed(tmp_path / ".ENV") == tmp_path / ".env"

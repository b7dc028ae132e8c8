from __future__ import annotations

from pathlib import Path

import pytest

from agents.servers.lsp.types import Diagnostic, Position, Range, Severity, Update
from agents.servers.lsp.uses.feedback import Breaks

ROOT = Path("/project")
FILE = ROOT / "a.py"


def said(
    *errors: str, content: bytes | None = b"x", line: int = 0, severity: Severity = 1, path: Path = FILE
) -> Update:
    place = Range(Position(line, 0), Position(line, 1))
    found = tuple(Diagnostic(place, severity, text, server="s") for text in errors)
    return Update(ROOT, "s", path, found, content)


def messages(breaks: Breaks, mark: int = 0) -> list[str]:
    return [item.message for found in breaks.since(mark, ROOT).values() for item in found]


@pytest.mark.parametrize(
    ("updates", "broken"),
    [
        ([said("old")], []),
        ([said(), said("new")], ["new"]),
        ([said("old"), said("old", "new")], ["new"]),
        ([said("old"), said("old", line=7)], []),
        ([said("same"), said("same", "same")], ["same"]),
        ([said(), said("new", severity=2)], []),
        ([said(), said("new"), said()], []),
        ([said(), said("one"), said("one", "two"), said("two")], ["two"]),
        ([said(), said("own", content=b"y")], []),
        ([said(), said("new"), said("new", "own", content=b"y")], []),
        ([said("old", content=None), said("old", "new", content=None)], ["new"]),
        ([said(), said(content=None), said("again")], []),
    ],
    ids=[
        "first look",
        "new one",
        "beside an old one",
        "moved",
        "one more of the same",
        "a warning",
        "mended",
        "mended in part",
        "by an edit of the file",
        "then edited",
        "content unknown",
        "server begun anew",
    ],
)
def test_a_file_is_broken_when_its_content_stayed_and_errors_came(
    updates: list[Update], broken: list[str]
) -> None:
    breaks = Breaks()
    for update in updates:
        breaks.hear(update)
    assert messages(breaks) == broken


def test_each_break_is_told_once_and_in_its_folder() -> None:
    breaks = Breaks()
    for update in (
        said(),
        said("new"),
        said(path=Path("/other/b.py")),
        said("theirs", path=Path("/other/b.py")),
    ):
        breaks.hear(update)
    assert messages(breaks) == ["new"]
    mark = breaks.mark
    assert messages(breaks, mark) == []
    breaks.hear(said("new", "newer"))
    assert messages(breaks, mark) == ["new", "newer"], "a file that breaks further is told whole"

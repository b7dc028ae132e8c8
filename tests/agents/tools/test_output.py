"""Bounding tool output: head, tail, the whole in a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.tools.shared.output import bound, expire


def test_short_output_stays_as_it_is(tmp_path: Path) -> None:
    result = bound("a\nb\n", tmp_path / "out")
    assert (result.text, result.path, result.truncated) == ("a\nb\n", None, False)
    assert not (tmp_path / "out").exists()


def test_many_lines_keep_head_and_tail_and_the_whole_in_a_private_file(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(10_000))
    result = bound(text, tmp_path / "out")
    assert result.path is not None
    assert result.text.startswith("line 0\n")
    assert result.text.endswith("\nline 9999")
    assert str(result.path) in result.text
    assert result.text.count("\n") < 2000
    assert result.path.read_text() == text
    assert stat.S_IMODE(result.path.stat().st_mode) == 0o600


def test_one_line_of_ten_megabytes(tmp_path: Path) -> None:
    result = bound("$ cmd\n" + "é" * 5_000_000 + "end", tmp_path)
    assert result.text.startswith("$ cmd\néé")
    assert result.text.endswith("ééend")
    assert len(result.text.encode()) <= 50 * 1024


def test_a_file_that_cannot_be_kept_makes_the_output_lossy_not_failed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = bound("x\n" * 5000, tmp_path / "file")
    assert result.truncated
    assert result.path is None
    assert "could not be kept" in result.text


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="aé€😀\n\ud800", max_size=4000).map(lambda text: text * 3))
def test_limits_hold_and_both_ends_are_whole_characters(text: str) -> None:
    folder = Path("/nonexistent")
    result = bound(text, folder, max_lines=20, max_bytes=1024)
    assert len(result.text.encode()) <= 1024
    assert result.text.count("\n") + 1 <= 20
    if result.truncated:
        whole = text.encode("utf-8", "backslashreplace").decode()
        head, _, rest = result.text.partition("\n\n[... ")
        assert whole.startswith(head)
        assert whole.endswith(rest.rpartition(" ...]\n\n")[2])


def test_old_output_expires_and_nothing_else_goes(tmp_path: Path) -> None:
    for name in ("tool_old.txt", "tool_new.txt", "mine.txt"):
        (tmp_path / name).touch()
    for name in ("tool_old.txt", "mine.txt"):
        os.utime(tmp_path / name, (0, 0))
    assert expire(tmp_path, 60) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", "tool_new.txt"]
    assert expire(tmp_path / "missing", 60) == 0

"""Bounding tool output: head, tail, the whole in a file."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.config.schema import ToolOutputConfig
from agents.toolkit.base import ToolResult
from agents.toolkit.shared.output import bound, expire, model_output


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


@settings(max_examples=60)
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


LIMITS = ToolOutputConfig(max_lines=50, max_bytes=4_000)


def test_one_limit_holds_for_what_a_call_gives(tmp_path: Path) -> None:
    text, metadata = model_output(ToolResult("t", "x\n" * 3_000), LIMITS, tmp_path)
    assert len(text.splitlines()) <= 50
    assert metadata["truncated"] is True
    assert Path(metadata["outputPath"]).read_text() == "x\n" * 3_000
    assert list(tmp_path.iterdir()) == [Path(metadata["outputPath"])]


def test_a_tool_that_bounds_its_output_may_add_a_note_and_no_more(tmp_path: Path) -> None:
    shaped = "y\n" * 52 + "(more lines follow)"
    text, metadata = model_output(ToolResult("t", shaped, bounded=True), LIMITS, tmp_path)
    assert (text, metadata) == (shaped, {})
    text, metadata = model_output(ToolResult("t", "z" * 9_000, bounded=True), LIMITS, tmp_path)
    assert len(text) < 5_200
    assert metadata["truncated"] is True


def test_a_file_that_the_tool_kept_is_the_one_that_is_named(tmp_path: Path) -> None:
    kept = tmp_path / "tool_kept.txt"
    result = ToolResult("t", "x" * 9_000, {"outputPath": str(kept), "truncated": True}, bounded=True)
    text, metadata = model_output(result, LIMITS, tmp_path)
    assert str(kept) in text
    assert metadata["outputPath"] == str(kept)
    assert list(tmp_path.iterdir()) == []


def test_a_result_of_values_only_is_shown_as_json_and_stays_as_it_is(tmp_path: Path) -> None:
    values = {"rows": [{"name": f"row {number}"} for number in range(1_000)]}
    text, metadata = model_output(ToolResult("t", "", values), LIMITS, tmp_path)
    assert text.startswith('{"rows": [{"name": "row 0"}')
    assert len(text) <= 4_000
    assert metadata["rows"] == values["rows"]
    assert json.loads(Path(metadata["outputPath"]).read_text()) == values

"""`edit` on real files."""

from __future__ import annotations

import asyncio
import codecs
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.toolkit.base import ToolError, ToolResult
from agents.toolkit.permission.errors import PermissionRejected
from agents.tools.change import from_model
from agents.tools.edit import TOOL
from tests.agents.tools.context import DirectContext


async def edit(context: DirectContext, **arguments: Any) -> ToolResult:
    return await TOOL.execute(TOOL.input.model_validate({"filePath": "a.txt", **arguments}), context)


async def test_the_diff_is_asked_for_and_then_made(context: DirectContext) -> None:
    path = context.worktree / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    path.chmod(0o750)
    result = await edit(context, oldString="two", newString="2")
    assert path.read_text() == "one\n2\nthree\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    asked = context.asked[0]
    assert (asked.permission, asked.patterns, asked.always) == ("edit", ("a.txt",), ("*",))
    assert asked.metadata["diff"] == result.metadata["diff"]
    assert "\n-two\n+2\n" in result.metadata["diff"]
    assert result.metadata["filediff"] == {
        "file": "a.txt",
        "before": "one\ntwo\nthree\n",
        "after": "one\n2\nthree\n",
        "additions": 1,
        "deletions": 1,
    }
    assert result.title == "a.txt"


async def test_a_rejected_edit_leaves_the_file_alone(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_text("one")
    context.decision = "reject"
    with pytest.raises(PermissionRejected):
        await edit(context, oldString="one", newString="two")
    assert (context.worktree / "a.txt").read_text() == "one"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"\xef\xbb\xbfa\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"\xef\xbb\xbfx\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", "b\nc", "1\n2", b"a\r\n1\n2\r\n"),
        ("caf\xe9 a\n".encode("latin-1"), "café", "thé", "thé a\n".encode("latin-1")),
        (b"\xff\xfea\x00\n\x00b\x00", "b", "é", "\ufeffa\né".encode("utf-16-le")),
        ("üö a\n".encode() + b"\xff", " a\n", " é\n", "üö é\n".encode() + b"\xff"),
    ],
)
async def test_encoding_mark_and_line_endings_stay(
    context: DirectContext, before: bytes, old: str, new: str, after: bytes
) -> None:
    (context.worktree / "a.txt").write_bytes(before)
    await edit(context, oldString=old, newString=new)
    assert (context.worktree / "a.txt").read_bytes() == after


@settings(max_examples=80)
@given(
    lines=st.lists(st.binary(max_size=8).map(lambda data: data.replace(b"\0", b"")), min_size=1, max_size=8),
    ending=st.sampled_from([b"\n", b"\r\n"]),
    data=st.data(),
)
def test_bytes_outside_of_the_match_never_change(
    lines: list[bytes], ending: bytes, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(lines)))
    head = b"text " * 40 + ending.join([*lines[:at], b""])
    tail = ending.join([b"", *lines[at:]])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        context = DirectContext(directory=root, worktree=root, output_directory=root / "out")
        (root / "a.txt").write_bytes(head + b"needle" + ending + b"  hay" + tail)
        old = data.draw(st.sampled_from(["needle\n  hay", "needle\n    hay", "needle \n  hay", "needle hay"]))
        asyncio.run(edit(context, oldString=old, newString="pin\n  straw"))
        after = (root / "a.txt").read_bytes()
    assert after.startswith(head)
    assert after.endswith(tail)
    middle = after[len(head) : len(after) - len(tail)]
    assert middle.replace(b"\r\n", b"\n") == b"pin\n  straw"


async def test_parallel_edits_of_one_file_all_arrive(context: DirectContext) -> None:
    names = [f"name{number:02d}" for number in range(20)]
    (context.worktree / "a.txt").write_text("\n".join(names))
    await asyncio.gather(*(edit(context, oldString=name, newString=name.upper()) for name in names))
    assert (context.worktree / "a.txt").read_text() == "\n".join(names).upper()


async def test_replace_all_and_a_loose_match_are_told(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_text("a\nb\na\n")
    result = await edit(context, oldString="a", newString="c", replaceAll=True)
    assert "2 places (line 1, 3)" in result.output
    result = await edit(context, oldString="   b\n", newString="   d\n")
    assert "line_trimmed" in result.output
    assert (context.worktree / "a.txt").read_text() == "c\nd\nc\n"


async def test_an_empty_old_text_creates_the_file(context: DirectContext) -> None:
    result = await edit(context, oldString="", newString="new\n", filePath="deep/down/b.txt")
    assert (context.worktree / "deep/down/b.txt").read_text() == "new\n"
    assert result.metadata["exists"] is False
    with pytest.raises(ToolError, match="not empty"):
        await edit(context, oldString="", newString="x", filePath="deep/down/b.txt")


async def test_a_file_of_a_mark_alone_is_empty_and_keeps_it(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_bytes(codecs.BOM_UTF8)
    await edit(context, oldString="", newString="new\n")
    assert (context.worktree / "a.txt").read_bytes() == codecs.BOM_UTF8 + b"new\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "words"),
    [
        ("a.txt", "x", "x", "the same"),
        ("a.txt", "absent", "x", "not in the file"),
        ("b.txt", "x", "y", "Did you mean .*a.txt"),
        ("folder", "x", "y", "is a directory"),
        ("data.bin", "x", "y", "binary"),
        ("pipe", "x", "y", "no regular file"),
    ],
)
async def test_what_cannot_be_is_told(
    context: DirectContext, path: str, old: str, new: str, words: str
) -> None:
    (context.worktree / "a.txt").write_text("content")
    (context.worktree / "folder").mkdir()
    (context.worktree / "data.bin").write_bytes(b"x\0y")
    os.mkfifo(context.worktree / "pipe")
    with pytest.raises(ToolError, match=words):
        await edit(context, filePath=path, oldString=old, newString=new)
    assert context.written == []


async def test_the_numbers_of_read_are_taken_off(context: DirectContext) -> None:
    path = context.worktree / "a.txt"
    path.write_text("def f():\n    one()\n\n    two()\n")
    result = await edit(
        context, oldString="2:     one()\n3:\n4:     two()", newString="2:     one()\n3: \n4:     three()"
    )
    assert path.read_text() == "def f():\n    one()\n\n    three()\n"
    assert "line numbers of `read` in oldString were left out" in result.output
    await edit(context, oldString="00001| def f():", newString="def g():")
    assert path.read_text().startswith("def g():\n")


async def test_numbers_that_are_in_the_file_are_text(context: DirectContext) -> None:
    path = context.worktree / "a.txt"
    path.write_text("1: one\n2: two\n")
    await edit(context, oldString="2: two", newString="2: deux")
    assert path.read_text() == "1: one\n2: deux\n"


async def test_after_a_loose_match_the_lines_are_shown(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_text("zero\n    one\n    two\nthree\n")
    result = await edit(context, oldString="one\ntwo\n", newString="1\n2\n3\n")
    assert "The lines are now:\n1: zero\n2:     1\n3:     2\n4:     3\n5: three" in result.output
    exact = await edit(context, oldString="zero", newString="null")
    assert "The lines are now" not in exact.output


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("if x:\n\tone()\n", "    one()", "    one()\n    if y:\n        two()",
         "if x:\n\tone()\n\tif y:\n\t\ttwo()\n"),
        ("if x:\n\tone()\n", "if x:\n", "if x:\n  zero()\n", "if x:\n\tzero()\n\tone()\n"),
        ("if x:\n  a()\n  b()\n", "  b()", "\tc()\n\t\td()", "if x:\n  a()\n  c()\n    d()\n"),
        ("if x:\n\tone()\n", "\tone()", "    one()", "if x:\n    one()\n"),
        ("a\n\tb\n    c\n", "a", "a\n  x", "a\n  x\n\tb\n    c\n"),
        ("/*\n * a\n */\n{\n\tb\n}\n", " * a", " * a\n *  c", "/*\n * a\n *  c\n */\n{\n\tb\n}\n"),
        ("f(\n\t\ta,\n\t\t   b)\n", "\t\ta,", "\t\ta,\n\t\t    c,", "f(\n\t\ta,\n\t\t    c,\n\t\t   b)\n"),
    ],
    ids=["loose", "exact", "tabs", "meant", "both", "comment", "aligned"],
)  # fmt: skip
async def test_new_text_is_indented_as_the_file(
    context: DirectContext, before: str, old: str, new: str, after: str
) -> None:
    (context.worktree / "a.txt").write_text(before)
    await edit(context, oldString=old, newString=new)
    assert (context.worktree / "a.txt").read_text() == after


def test_half_a_character_of_a_model_is_refused() -> None:
    with pytest.raises(ToolError, match="lone surrogate"):
        from_model("a\ud800")

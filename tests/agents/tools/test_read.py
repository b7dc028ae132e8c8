"""`read` on real files."""

from __future__ import annotations

import base64
import codecs
import os
from typing import Any

import pytest

from agents.toolkit.base import ToolError, ToolResult
from agents.toolkit.permission.errors import PermissionDenied
from agents.tools import read as reading
from agents.tools.read import TOOL
from tests.agents.tools.context import DirectContext

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


async def read(context: DirectContext, path: str, **arguments: Any) -> ToolResult:
    return await TOOL.execute(TOOL.input.model_validate({"filePath": path, **arguments}), context)


async def test_numbered_lines_from_an_offset_and_how_to_go_on(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\nfour")
    result = await read(context, "a.txt", offset=2, limit=2)
    assert result.output == "a.txt\n2: two\n3: three\n\n(lines 2-3 of 4; go on with offset 4)"
    assert result.metadata == {"preview": "two\nthree", "truncated": True}
    whole = await read(context, "a.txt", offset=0)
    assert whole.output.startswith("a.txt\n1: one\n")
    assert whole.output.endswith("4: four\n\n(lines 1-4 of 4; end of the file)")
    assert (context.asked[0].permission, context.asked[0].patterns) == ("read", ("a.txt",))
    assert context.asked[0].always == ("*",)


async def test_long_lines_are_cut_and_counted_once(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_text("é" * 200_000 + "\n" + "x" * 2000 + "\r\nlast\n")
    lines = (await read(context, "a.txt")).output.split("\n")[1:]
    assert lines[0] == f"1: {'é' * 2000} [... line cut at 2000 characters]"
    assert lines[1] == f"2: {'x' * 2000}"
    assert lines[2] == "3: last"


async def test_the_whole_is_bounded_and_goes_on_where_it_stopped(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_text("".join(f"{number} {'é' * 100}\n" for number in range(1, 1001)))
    first = await read(context, "a.txt")
    assert len(first.output.encode()) < 51 * 1024
    following = int(first.output.rpartition("offset ")[2].rstrip(")"))
    second = await read(context, "a.txt", offset=following, limit=1)
    assert second.output.startswith(f"a.txt\n{following}: {following} ")
    assert f": {following - 1} " in first.output


async def test_the_lines_of_a_very_large_file_are_not_counted(
    context: DirectContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGEST_KNOWN", 10)
    (context.worktree / "a.txt").write_text("line\n" * 5)
    assert "(lines 1-2; go on with offset 3)" in (await read(context, "a.txt", limit=2)).output
    assert "(lines 5-5 of 5; end of the file)" in (await read(context, "a.txt", offset=5)).output


async def test_encodings_are_read_as_text(context: DirectContext) -> None:
    (context.worktree / "l.txt").write_bytes("café\n".encode("latin-1"))
    (context.worktree / "u.txt").write_bytes("\ufeffcafé\n".encode("utf-16-le"))
    for name in ("l.txt", "u.txt"):
        assert (await read(context, name)).output.startswith(f"{name}\n1: café\n")


async def test_pictures_are_attached_only_for_models_that_take_them(context: DirectContext) -> None:
    (context.worktree / "picture.txt").write_bytes(PNG)
    result = await read(context, "picture.txt")
    [attachment] = result.attachments
    assert attachment.mime == "image/png"
    assert base64.b64decode(attachment.url.removeprefix("data:image/png;base64,")) == PNG
    context.model_takes_files = False
    result = await read(context, "picture.txt")
    assert not result.attachments
    assert "text only" in result.output


async def test_a_directory_is_listed(context: DirectContext) -> None:
    (context.worktree / "folder").mkdir()
    (context.worktree / "a\nb").touch()
    assert (await read(context, ".")).output == f"{context.worktree}/\na\\nb\nfolder/"
    assert "go on with offset 2" in (await read(context, ".", limit=1)).output
    assert (await read(context, "folder")).output == "folder/\n(the directory is empty)"


async def test_an_empty_file_is_said(context: DirectContext) -> None:
    (context.worktree / "a.txt").touch()
    assert (await read(context, "a.txt")).output == "a.txt\n(the file is empty)"
    (context.worktree / "a.txt").write_bytes(codecs.BOM_UTF8)
    assert (await read(context, "a.txt")).output == "a.txt\n(the file is empty)"


@pytest.mark.parametrize(
    ("path", "arguments", "words"),
    [
        ("reedme.md", {}, "Did you mean .*readme.md"),
        ("program", {}, r"binary file \(ELF program or library, 104 bytes\)"),
        ("readme.md", {"offset": 9}, "has 1 lines; there is no line 9"),
        ("pipe", {}, "no regular file"),
        ("readme.md/x", {}, "does not exist|part of its path"),
    ],
)
async def test_what_cannot_be_read_is_told(
    context: DirectContext, path: str, arguments: dict[str, int], words: str
) -> None:
    (context.worktree / "readme.md").write_text("hello")
    (context.worktree / "program").write_bytes(b"\x7fELF" + b"\0" * 100)
    os.mkfifo(context.worktree / "pipe")
    with pytest.raises(ToolError, match=words):
        await read(context, path, **arguments)


async def test_nothing_is_read_when_it_is_denied(context: DirectContext) -> None:
    (context.worktree / ".env").write_text("KEY=1")
    context.decision = "deny"
    with pytest.raises(PermissionDenied):
        await read(context, ".env")

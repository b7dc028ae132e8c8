"""`write` on real files."""

from __future__ import annotations

import stat
from typing import Any

import pytest

from agents.toolkit.base import ToolError, ToolResult
from agents.tools.write import TOOL
from tests.agents.tools.context import DirectContext


async def write(context: DirectContext, path: str, content: str) -> ToolResult:
    arguments: dict[str, Any] = {"filePath": path, "content": content}
    return await TOOL.execute(TOOL.input.model_validate(arguments), context)


async def test_a_new_file_with_its_folders(context: DirectContext) -> None:
    result = await write(context, "a/b.txt", "x\r\ny")
    assert (context.worktree / "a/b.txt").read_bytes() == b"x\r\ny"
    assert result.output == "Created a/b.txt (2 lines)."
    assert result.metadata["exists"] is False
    assert result.metadata["filepath"] == str(context.worktree / "a/b.txt")
    assert result.metadata["filediff"]["additions"] == 2
    assert context.asked[0].metadata["diff"] == result.metadata["diff"]


async def test_line_endings_mark_mode_and_link_of_a_replaced_file_stay(context: DirectContext) -> None:
    path = context.worktree / "real.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    path.chmod(0o755)
    (context.worktree / "link.txt").symlink_to("real.txt")
    await write(context, "link.txt", "c\nd\n")
    assert path.read_bytes() == b"\xef\xbb\xbfc\r\nd\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert (context.worktree / "link.txt").is_symlink()


async def test_another_encoding_stays_while_it_can(context: DirectContext) -> None:
    path = context.worktree / "a.txt"
    path.write_bytes("café".encode("latin-1"))
    await write(context, "a.txt", "thé")
    assert path.read_bytes() == "thé".encode("latin-1")
    await write(context, "a.txt", "5 €")
    assert path.read_bytes() == "5 €".encode()


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        (".", "x", "is a directory"),
        ("file/below", "x", "is a file"),
        ("a" * 300, "x", "too long"),
        ("a.txt", "\ud800", "lone surrogate"),
    ],
)
async def test_what_cannot_be_written_is_told(
    context: DirectContext, path: str, content: str, words: str
) -> None:
    (context.worktree / "file").touch()
    with pytest.raises(ToolError, match=words):
        await write(context, path, content)


async def test_a_hostile_name_stays_on_its_line(context: DirectContext) -> None:
    result = await write(context, 'a\n+++ b/"<script>', "x")
    assert result.metadata["diff"].count("\n+++ ") == 1
    assert "\n" not in result.title
    assert (context.worktree / 'a\n+++ b/"<script>').read_text() == "x"

"""What waits in review mode, as the tools that read and search see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.toolkit.base import Tool, ToolError
from agents.tools import glob, grep, read
from agents.tools import list as listing
from tests.agents.tools.context import DirectContext


@pytest.fixture
def ctx(context: DirectContext) -> DirectContext:
    """A folder of which the agent has removed, edited and made files, and a staged file that git ignores."""
    root = context.directory
    (root / "kept.py").write_text("needle kept\n")
    (root / "edited.py").write_text("needle old\n")
    (root / "gone.py").write_text("needle gone\n")
    (root / ".gitignore").write_text("*.log\n")
    context.staged = {
        root / "sub/new.py": b"needle new\n",
        root / "edited.py": b"first\nneedle edited\n",
        root / "gone.py": None,
        root / "ignored.log": b"needle ignored\n",
        root / "only/deep/b.txt": b"needle deep\n",
    }
    return context


async def out(tool: Tool[Any], ctx: DirectContext, **arguments: object) -> str:
    return (await tool.execute(tool.input.model_validate(arguments), ctx)).output


async def test_grep_finds_staged_lines_first_and_no_others_of_those_files(ctx: DirectContext) -> None:
    found = await out(grep.TOOL, ctx, pattern="needle")
    lines = [line.strip() for line in found.splitlines() if line.startswith("  ")]
    assert set(lines) == {"1: needle new", "2: needle edited", "1: needle deep", "1: needle kept"}
    assert lines[0] == "1: needle new"
    assert lines[-1] == "1: needle kept"


async def test_grep_keeps_to_the_path_and_the_include(ctx: DirectContext) -> None:
    assert "needle edited" in await out(grep.TOOL, ctx, pattern="needle", path="edited.py")
    assert "needle old" not in await out(grep.TOOL, ctx, pattern="needle", path="edited.py")
    inside = await out(grep.TOOL, ctx, pattern="needle", path="only")
    assert ("needle deep" in inside, "needle new" in inside) == (True, False)
    included = await out(grep.TOOL, ctx, pattern="needle", include="*.txt")
    assert ("needle deep" in included, "needle new" in included) == (True, False)
    with pytest.raises(ToolError, match="does not exist"):
        await out(grep.TOOL, ctx, pattern="needle", path="gone.py")


async def test_glob_and_list_show_the_tree_as_it_will_be(ctx: DirectContext) -> None:
    *found, _ = (await out(glob.TOOL, ctx, pattern="*.py")).splitlines()
    assert sorted(found) == ["edited.py", "kept.py", "sub/new.py"]
    assert (await out(glob.TOOL, ctx, pattern="*.txt", path="only")).startswith("only/deep/b.txt\n(1")
    drawn = await out(listing.TOOL, ctx)
    assert "gone.py" not in drawn
    assert "new.py" in drawn
    assert "ignored.log" not in drawn
    with pytest.raises(ToolError, match="is a file, not a directory"):
        await out(glob.TOOL, ctx, pattern="*", path="sub/new.py")


async def test_a_staged_ignore_file_counts(ctx: DirectContext) -> None:
    ctx.staged = {ctx.directory / ".gitignore": b"*.txt\n", **ctx.staged}
    drawn = await out(listing.TOOL, ctx)
    assert ("b.txt" in drawn, "ignored.log" in drawn) == (False, True)


async def test_read_gives_staged_text_names_and_nothing_that_goes(ctx: DirectContext) -> None:
    assert "2: needle edited" in await out(read.TOOL, ctx, filePath="edited.py")
    _, *names = (await out(read.TOOL, ctx, filePath=".")).split()
    assert names == [".gitignore", "edited.py", "ignored.log", "kept.py", "only/", "sub/"]
    assert await out(read.TOOL, ctx, filePath="only") == "only/\ndeep/"
    with pytest.raises(ToolError, match=r"gone\.py does not exist\.$"):
        await out(read.TOOL, ctx, filePath="gone.py")


async def test_staged_bytes_are_read_as_those_of_the_disk(ctx: DirectContext) -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
    texts = {"utf16.txt": "\ufeffhé\n".encode("utf-16-le"), "latin.txt": "h\xe9\n".encode("latin-1")}
    ctx.staged = {ctx.directory / name: data for name, data in {**texts, "a.png": png, "e": b""}.items()}
    for name in texts:
        assert "1: hé" in await out(read.TOOL, ctx, filePath=name)
    result = await read.TOOL.execute(read.Input.model_validate({"filePath": "a.png"}), ctx)
    assert [file.mime for file in result.attachments] == ["image/png"]
    assert "is empty" in await out(read.TOOL, ctx, filePath="e")


async def test_a_search_outside_of_the_project_finds_nothing_staged(
    ctx: DirectContext, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.py").write_text("needle outside\n")
    found = await out(grep.TOOL, ctx, pattern="needle", path=str(tmp_path / "elsewhere"))
    assert "needle outside" in found
    assert "needle new" not in found
    above = await out(glob.TOOL, ctx, pattern="**/new.py", path=str(tmp_path))
    assert above.splitlines() == ["sub/new.py", "(1 file)"]

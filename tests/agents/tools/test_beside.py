"""Others change a file that an agent works on: what it does goes to its place, or it is told why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.toolkit.base import FileWrite, ToolError, ToolResult
from agents.toolkit.shared import beside
from agents.toolkit.shared.beside import rebased
from agents.tools.apply_patch import TOOL as PATCH
from agents.tools.edit import TOOL as EDIT
from agents.tools.multiedit import TOOL as MULTIEDIT
from agents.tools.read import TOOL as READ
from agents.tools.write import TOOL as WRITE

from .context import DirectContext

LINES = "".join(f"line {number}\n" for number in range(9))


@pytest.fixture
def path(context: DirectContext) -> Path:
    found = context.worktree / "file.txt"
    found.write_text(LINES)
    return found


async def read(context: DirectContext, path: Path) -> ToolResult:
    return await READ.execute(READ.input.model_validate({"filePath": str(path)}), context)


async def write(context: DirectContext, path: Path, content: str) -> ToolResult:
    return await WRITE.execute(
        WRITE.input.model_validate({"filePath": str(path), "content": content}), context
    )


async def edit(context: DirectContext, path: Path, old: str, new: str) -> ToolResult:
    given = {"filePath": str(path), "oldString": old, "newString": new}
    return await EDIT.execute(EDIT.input.model_validate(given), context)


async def test_a_file_written_whole_keeps_what_others_wrote(context: DirectContext, path: Path) -> None:
    await read(context, path)
    path.write_text(LINES.replace("line 8", "line 8, mine"))
    result = await write(context, path, LINES.replace("line 1", "LINE 1"))
    assert path.read_text() == LINES.replace("line 1", "LINE 1").replace("line 8", "line 8, mine")
    assert "+line 8, mine" in result.output
    assert "LINE 1" not in result.output.partition("+line 8")[2]
    shown = result.metadata["filediff"]
    assert (shown["additions"], shown["deletions"]) == (1, 1)


async def test_a_file_written_whole_over_lines_of_others_is_refused(
    context: DirectContext, path: Path
) -> None:
    await read(context, path)
    path.write_text(LINES.replace("line 1", "line 1, mine"))
    with pytest.raises(ToolError, match=r"same lines \(at line 2\)") as refused:
        await write(context, path, LINES.replace("line 1", "LINE 1"))
    assert "+line 1, mine" in str(refused.value)
    assert path.read_text() == LINES.replace("line 1", "line 1, mine")
    await read(context, path)
    await write(context, path, LINES.replace("line 1", "LINE 1"))
    assert path.read_text() == LINES.replace("line 1", "LINE 1")


async def test_what_was_never_read_is_replaced(context: DirectContext, path: Path) -> None:
    result = await write(context, path, "all new\n")
    assert (path.read_text(), "Others" in result.output) == ("all new\n", False)


async def test_an_edit_tells_what_others_changed_once(context: DirectContext, path: Path) -> None:
    await read(context, path)
    path.write_text("before\n" + LINES.replace("line 8", "line 8, mine"))
    told = await edit(context, path, "line 3", "LINE 3")
    assert "Others changed" in told.output
    assert "+before" in told.output
    assert "-line 8\n+line 8, mine" in told.output
    assert "+LINE 3" not in told.output
    again = await edit(context, path, "line 5", "LINE 5")
    assert "Others" not in again.output


async def test_what_others_changed_is_told_in_bounds(context: DirectContext, path: Path) -> None:
    await read(context, path)
    path.write_text(LINES + "more\n" * 5000)
    given = {"filePath": str(path), "edits": [{"oldString": "line 3", "newString": "LINE 3"}]}
    told = await MULTIEDIT.execute(MULTIEDIT.input.model_validate(given), context)
    assert "more lines of this diff are not shown" in told.output
    assert len(told.output) < 5000


async def test_each_session_has_seen_what_it_has_read(context: DirectContext, path: Path) -> None:
    await read(context, path)
    other = replace(context, session_id="ses_other")
    await edit(other, path, "line 3", "LINE 3")
    result = await write(context, path, LINES.replace("line 6", "LINE 6"))
    assert path.read_text() == LINES.replace("line 3", "LINE 3").replace("line 6", "LINE 6")
    assert "+LINE 3" in result.output


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(beside, "ROOM", 10)
    for name in "abc":
        beside.learn("ses_bounded", tmp_path / name, b"12345")
    held = [beside.seen("ses_bounded", tmp_path / name) for name in "abc"]
    assert held == [None, b"12345", b"12345"]


@pytest.mark.parametrize(
    ("expected", "content", "current"),
    [(b"a\n", None, b"b\n"), (None, b"a\n", b"b\n"), (b"a\n", b"b\n", None), (b"a\n", b"b\n", b"c\n")],
    ids=["removed", "made", "gone", "same lines"],
)
def test_what_cannot_be_placed(expected: bytes, content: bytes, current: bytes) -> None:
    with pytest.raises(ToolError):
        rebased(FileWrite(Path("/x"), content, expected), current)


async def test_a_large_file_is_not_replaced_over_others_changes(context: DirectContext, path: Path) -> None:
    large = LINES * (beside.LARGEST // len(LINES) + 1)
    path.write_text(large)
    await read(context, path)
    path.write_text(large + "mine\n")
    with pytest.raises(ToolError, match="somebody else changed it since you read it"):
        await write(context, path, "short\n")
    assert path.read_text() == large + "mine\n"
    await read(context, path)
    await write(context, path, "short\n")
    assert path.read_text() == "short\n"


async def test_a_file_that_others_changed_is_not_deleted(context: DirectContext, path: Path) -> None:
    await read(context, path)
    path.write_text(LINES + "mine\n")
    patch = PATCH.input.model_validate(
        {"patchText": "*** Begin Patch\n*** Delete File: file.txt\n*** End Patch"}
    )
    with pytest.raises(ToolError, match=r"(?s)Read it again.*\+mine"):
        await PATCH.execute(patch, context)
    assert path.read_text() == LINES + "mine\n"
    await read(context, path)
    await PATCH.execute(patch, context)
    assert not path.exists()

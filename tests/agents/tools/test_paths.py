"""Where a path leads: containment on real paths, asking, words for errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.toolkit.base import ToolError
from agents.toolkit.file_names import printable
from agents.toolkit.permission.errors import PermissionDenied
from agents.toolkit.shared.paths import authorise, explained, missing
from tests.agents.tools.context import DirectContext


async def test_inside_the_project_nothing_is_asked(context: DirectContext) -> None:
    target = await authorise(context, "src/../a.txt", "write")
    assert target.path == context.worktree / "a.txt"
    assert target.patterns == ("a.txt",)
    assert context.asked == []


@pytest.mark.parametrize("path", ["../elsewhere/a.txt", "link/a.txt"])
async def test_outside_is_asked_for_by_its_real_folder(context: DirectContext, path: str) -> None:
    outside = context.worktree.parent / "elsewhere"
    outside.mkdir()
    (context.worktree / "link").symlink_to(outside)
    context.decisions["external_directory"] = "deny"
    with pytest.raises(PermissionDenied):
        await authorise(context, path, "read")
    assert context.asked[0].patterns == (f"{outside}/*",)
    assert context.asked[0].always == (f"{outside}/*",)


async def test_a_folder_named_with_a_wildcard_cannot_be_allowed_for_good(context: DirectContext) -> None:
    (context.worktree.parent / "a*").mkdir()
    await authorise(context, "../a*/b.txt", "read")
    assert context.asked[0].always == ()


async def test_both_names_of_a_linked_file_are_matched(context: DirectContext) -> None:
    (context.worktree / ".env").write_text("KEY=1")
    (context.worktree / "notes.txt").symlink_to(".env")
    target = await authorise(context, "notes.txt", "read")
    assert target.patterns == ("notes.txt", ".env")


async def test_managed_output_is_readable_but_not_writable_without_asking(context: DirectContext) -> None:
    path = str(context.output_directory / "tool_1.txt")
    await authorise(context, path, "read")
    assert context.asked == []
    await authorise(context, path, "write")
    assert [asked.permission for asked in context.asked] == ["external_directory"]


async def test_the_root_as_worktree_contains_nothing(context: DirectContext) -> None:
    context.worktree = Path("/")
    await authorise(context, "a.txt", "write")
    assert context.asked == []
    await authorise(context, "/etc/hostname", "read")
    assert context.asked[0].patterns == ("/etc/*",)
    context.directory = Path("/")
    await authorise(context, "/etc/hostname", "read")
    assert len(context.asked) == 2


async def test_a_folder_deleted_during_the_turn_is_said(context: DirectContext) -> None:
    context.directory.rmdir()
    with pytest.raises(ToolError, match="no longer exists"):
        await authorise(context, "a.txt", "write")


@pytest.mark.parametrize("path", ["a\0b", "loop/x"])
async def test_a_path_that_cannot_be_is_an_error_for_the_model(context: DirectContext, path: str) -> None:
    (context.worktree / "loop").symlink_to("loop")
    with pytest.raises(ToolError, match="not a usable path"):
        await authorise(context, path, "read")


async def test_names_that_look_like_a_missing_one_are_told(context: DirectContext) -> None:
    for name in ("settings.py", "Setup.py", "settings.json", "other.md"):
        (context.worktree / name).touch()
    told = str(missing(context, await authorise(context, "setings.py", "read")))
    assert "settings.py" in told
    assert "other.md" not in told


async def test_a_bare_name_is_looked_for_in_the_whole_project(context: DirectContext) -> None:
    for name in ("src/deep/calc.py", "node_modules/calc.py", "src/odd[1].py"):
        (context.worktree / name).parent.mkdir(parents=True, exist_ok=True)
        (context.worktree / name).touch()
    (context.worktree / ".gitignore").write_text("node_modules\n")
    told = str(missing(context, await authorise(context, "calc.py", "read")))
    assert told == "calc.py does not exist. Did you mean src/deep/calc.py?"
    assert "src/odd[1].py?" in str(missing(context, await authorise(context, "lib/odd[1].py", "read")))
    assert str(missing(context, await authorise(context, "*.py", "read"))) == "*.py does not exist."


def test_names_are_told_on_one_line_and_can_be_stored() -> None:
    name = os.fsdecode(b"a\nb\x1b[31m\xff") + "\u202egpj.<é>"
    assert printable(name) == r"a\nb\x1b[31m\udcff\u202egpj.<é>"


def test_errors_of_the_system_become_words(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^x is a directory, not a file\.$"), explained("x"):
        tmp_path.read_bytes()
    with pytest.raises(ToolError, match="disk is full"), explained("x"), Path("/dev/full").open("w") as file:
        file.write("x")
        file.flush()

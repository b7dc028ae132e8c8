"""The folder for scratch files: private, nobody's but the session's, and asked about by nothing."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest

from agents.toolkit import scratch
from agents.toolkit.base import Tool
from agents.tools import bash, read, write
from tests.agents.tools.context import DirectContext


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DirectContext:
    folders = [tmp_path.resolve() / name for name in ("project", "tool-output", "tmp")]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders[2]))
    return DirectContext(directory=folders[0], worktree=folders[0], output_directory=folders[1])


def folder(context: DirectContext, session_id: str = "") -> Path:
    return scratch.folder(context.output_directory, session_id or context.session_id)


async def call(tool: Tool[Any], context: DirectContext, **arguments: object) -> str:
    return (await tool.execute(tool.input.model_validate(arguments), context)).output


async def test_the_agent_works_there_and_nobody_is_asked_about_the_place(context: DirectContext) -> None:
    place = folder(context)
    await call(write.TOOL, context, filePath=str(place / "deep/a.txt"), content="one\n")
    assert "1: one" in await call(read.TOOL, context, filePath=str(place / "deep/a.txt"))
    command = f"cat {place}/deep/a.txt > {place}/b.txt; cat {place}/b.txt"
    assert await call(bash.TOOL, context, command=command) == "one\n"
    assert await call(bash.TOOL, context, command="ls", workdir=str(place)) == "b.txt\ndeep\n"
    assert "external_directory" not in {asked.permission for asked in context.asked}
    assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE(place.parent.stat().st_mode) == 0o700


async def test_elsewhere_it_is_asked_for(context: DirectContext) -> None:
    place = folder(context)
    await call(bash.TOOL, context, command=f"ln -s {context.output_directory} {place}/link")
    context.asked.clear()
    for path in (place / "link/a.txt", place / "../other/a.txt", folder(context, "ses_other") / "a.txt"):
        await call(write.TOOL, context, filePath=str(path), content="x")
    await call(bash.TOOL, context, command=f"ls > {folder(context, 'ses_other')}/b.txt")
    assert [asked.permission for asked in context.asked].count("external_directory") == 4


@pytest.mark.parametrize("taken", ["link", "open", "file"])
async def test_a_folder_that_somebody_else_made_is_not_used(context: DirectContext, taken: str) -> None:
    place = folder(context)
    place.parent.mkdir(mode=0o700)
    match taken:
        case "link":
            place.symlink_to(context.output_directory.parent)
        case "open":
            place.mkdir()
            place.chmod(0o777)
        case "file":
            place.touch()
    assert scratch.made(context.output_directory, context.session_id) is None
    await call(bash.TOOL, context, command=f"ls {place}")
    assert "external_directory" in {asked.permission for asked in context.asked}


def test_those_of_other_sessions_are_removed(context: DirectContext) -> None:
    outputs = context.output_directory
    assert scratch.known(outputs) == []
    for name in ("ses_a", "ses_b"):
        assert scratch.made(outputs, name) == folder(context, name)
    (folder(context, "ses_a") / "file").touch()
    assert set(scratch.known(outputs)) == {"ses_a", "ses_b"}
    scratch.remove(outputs, {"ses_a"})
    assert scratch.known(outputs) == ["ses_b"]

"""Verdicts on what has no lines of its own (a binary file, a mode), and a Redo of one hunk of several."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage
from tests.e2e.test_review import LINES, button, change, edited, file_of, hunk, turn, without
from tests.loopback.script import ToolUse

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

BEFORE, AFTER = b"\0before\xff", b"\0after\xfe\xfd"
EXECUTABLE = 0o100


def executable(path: Path) -> bool:
    return bool(path.stat().st_mode & EXECUTABLE)


@pytest.mark.long
async def test_files_without_hunks_are_undone_and_put_back(stage: Stage, context: BrowserContext) -> None:
    folder = stage.project / "whole"
    folder.mkdir()
    binary, script, both = (folder / name for name in ("data.bin", "run.sh", "both.txt"))
    binary.write_bytes(BEFORE)
    script.write_text("echo run\n")
    both.write_text(LINES)
    (folder / "next").write_bytes(AFTER)
    command = "cp next data.bin && chmod +x run.sh both.txt"
    tab = await stage.tab(context, await stage.session("whole"))
    shell = ToolUse("bash", {"command": command, "workdir": "whole"})
    await turn(tab, stage, shell)
    await turn(tab, stage, change("whole/both.txt", 2, "agent 2"), says="Two.")

    async def verdict(name: str, label: str, state: str) -> None:
        file = file_of(tab, f"whole/{name}")
        await button(file.locator(".file-head"), label).click()
        await expect(file).to_have_attribute("data-state", state)

    await expect(file_of(tab, "data.bin")).to_contain_text("Binary file: 8 bytes before, 8 bytes after.")
    await expect(file_of(tab, "run.sh")).to_contain_text("Mode 644 became 755: executable.")
    await verdict("data.bin", "Undo", "gone")
    assert binary.read_bytes() == BEFORE
    await verdict("run.sh", "Undo", "gone")
    assert not executable(script)
    await verdict("both.txt", "Undo", "gone")
    assert (both.read_text(), executable(both)) == (LINES, False)

    await tab.page.reload()
    for name in ("data.bin", "run.sh", "both.txt"):
        await expect(file_of(tab, name).locator(".file-tag")).to_have_text("Undone")
        await verdict(name, "Redo", "here")
    assert binary.read_bytes() == AFTER
    assert (script.read_text(), executable(script)) == ("echo run\n", True)
    assert (both.read_text(), executable(both)) == (LINES.replace("line 2\n", "agent 2\n"), True)


@pytest.mark.long
async def test_redo_of_one_of_the_hunks_that_one_verdict_took_back(
    stage: Stage, context: BrowserContext
) -> None:
    tab, old = await edited(stage, context, "apart")
    await button(hunk(tab, 1), "Keep").click()
    await expect(hunk(tab, 1)).to_have_attribute("data-state", "kept")
    await button(file_of(tab, "old.txt").locator(".file-head"), "Undo").click()
    await expect(hunk(tab, 2)).to_have_attribute("data-state", "gone")
    assert old.read_text() == without(2, 29)
    mine = without(2, 29).replace("line 22\n", "mine 22\n")
    old.write_text(mine)
    await button(hunk(tab, 0), "Redo").click()
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "here")
    await expect(hunk(tab, 0).locator(".hunk-state")).to_have_text("Redone")
    await expect(hunk(tab, 2)).to_have_attribute("data-state", "gone")
    assert old.read_text() == mine.replace("line 2\n", "agent 2\n")
    note = tab.page.locator(".toast", has_text="Redone")
    await button(note, "Undo").click()
    await expect(hunk(tab, 0)).to_have_attribute("data-state", "gone")
    assert old.read_text() == mine
    await button(hunk(tab, 2), "Redo").click()
    await expect(hunk(tab, 2)).to_have_attribute("data-state", "here")
    assert old.read_text() == mine.replace("line 29\n", "agent 29\n")

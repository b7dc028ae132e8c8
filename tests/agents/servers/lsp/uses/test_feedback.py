"""What language servers say of an edit goes to the model with the edit's result."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agents.config.schema import Config
from agents.servers.lsp.service import service
from agents.servers.lsp.types import Update
from agents.servers.lsp.uses.feedback import patience, with_diagnostics
from agents.toolkit.base import Tool, ToolResult
from agents.tools import apply_patch, edit, multiedit, read, write
from tests.agents.servers.lsp.uses import places
from tests.agents.servers.lsp.uses.places import CODE, USER, Configured, finder
from tests.agents.tools.context import DirectContext

LATE = 60.0
RESULT = ToolResult("a.find", "Edited a.find.")


async def run(context: DirectContext, tool: Tool[Any], **arguments: Any) -> ToolResult:
    return await tool.execute(tool.input.model_validate(arguments), context)


class Heard:
    """What is said of files from now on."""

    now: Heard

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._said: asyncio.Queue[Update] = asyncio.Queue()
        Heard.now = self
        service.listen(Heard.hear)

    @staticmethod
    def hear(update: Update) -> None:
        with suppress(RuntimeError):  # the test has ended
            Heard.now._loop.call_soon_threadsafe(Heard.now._said.put_nowait, update)

    async def errors(self, path: Path, count: int) -> None:
        """Until a file has so many."""
        async with asyncio.timeout(LATE):
            while True:
                update = await self._said.get()
                if update.path == path and sum(item.severity == 1 for item in update.diagnostics) == count:
                    return


async def test_the_model_is_told_of_its_error_and_of_what_it_broke(
    configured: Configured, user_environ: dict[str, str]
) -> None:
    context = configured(lsp=places.basedpyright(user_environ), experimental={"lsp_timeout": LATE * 1000 / 2})
    places.write(context.directory, code_of=CODE, user=USER)
    code, user = context.directory / "code_of.py", context.directory / "user.py"
    heard = Heard()
    await run(context, read.TOOL, filePath="user.py")
    await heard.errors(user, 0)

    wrong = await run(
        context, edit.TOOL, filePath="code_of.py", oldString="times = 1", newString="times: int = 'one'"
    )
    assert "\nErrors in code_of.py as it is now, found by its language server:\n  2:18 Type " in wrong.output
    assert "[reportAssignmentType]" in wrong.output
    (error,) = [item for item in wrong.metadata["diagnostics"][str(code)] if item["severity"] == 1]
    assert error["range"]["start"] == {"line": 1, "character": 17}
    assert (error["code"], error["source"]) == ("reportAssignmentType", "basedpyright")

    edits = [
        {"oldString": "times: int = 'one'", "newString": "times = 1"},
        {"oldString": "def hello", "newString": "def hallo"},
    ]
    renamed = await run(context, multiedit.TOOL, filePath="code_of.py", edits=edits)
    assert '8:16 "hello" is not defined [reportUndefinedVariable]' in renamed.output
    await heard.errors(user, 1)
    back = await run(
        context, edit.TOOL, filePath="code_of.py", oldString='hello("you")', newString='hallo("you")'
    )
    assert "Errors in code_of.py" not in back.output
    told = f"{renamed.output}\n{back.output}"
    assert 'user.py:\n  1:21 "hello" is unknown import symbol' in told, "with the edit, or with the next one"
    assert told.count("user.py:") == 1

    mended = await run(
        context, edit.TOOL, filePath="code_of.py", oldString="hallo", newString="hello", replaceAll=True
    )
    assert mended.output == "Edited code_of.py: 2 places (line 1, 8)."


async def test_what_a_patch_writes_is_looked_at(configured: Configured) -> None:
    context = configured(lsp=finder())
    (context.directory / "old.find").write_text("fine\n")
    patch = "*** Begin Patch\n*** Update File: old.find\n*** Move to: new.find\n@@\n-fine\n+wrong one\n"
    patch += "*** Add File: more.find\n+odd\n*** End Patch"
    result = await run(context, apply_patch.TOOL, patchText=patch)
    assert "Errors in new.find as it is now" in result.output
    assert "more.find as" not in result.output, "a warning is none of the model's business"
    assert {Path(path).name for path in result.metadata["diagnostics"]} == {"new.find", "more.find"}


async def test_nothing_is_said_when_language_servers_are_off(configured: Configured) -> None:
    context = configured(lsp=False)
    result = await run(context, write.TOOL, filePath="a.find", content="wrong\n")
    assert result.output == "Created a.find (1 lines)."
    assert result.metadata["diagnostics"] == {}
    assert service.statuses(context.directory) == []


async def test_what_is_told_is_bounded_and_stays_on_its_lines(configured: Configured) -> None:
    context = configured(lsp=finder())
    lines = [f"wrong {number}" for number in range(25)]
    lines[0] = "\U0001d4b3 wrong \x1b[31m" + "x" * 9000
    result = await run(context, write.TOOL, filePath="a.find", content="\n".join(lines))
    told = result.output.split("language server:\n")[1].splitlines()
    assert len(told) == 21
    assert told[0].startswith("  1:3 \U0001d4b3 wrong \\x1b[31mxxx"), "columns count characters"
    assert len(told[0]) < 600
    assert told[-1] == "  (5 more)"
    assert len(result.metadata["diagnostics"][str(context.directory / "a.find")]) == 25


async def test_at_most_five_other_files_are_named(configured: Configured) -> None:
    context = configured(lsp=finder(), experimental={"lsp_timeout": 30_000})
    heard = Heard()
    await run(context, write.TOOL, filePath="base.find", content="here\n")
    for number in range(7):
        (context.directory / f"needs{number}.find").write_text("needs base.find\n")
        await run(context, read.TOOL, filePath=f"needs{number}.find")
        await heard.errors(context.directory / f"needs{number}.find", 0)
    gone = await run(context, write.TOOL, filePath="base.find", content="nothing\n")
    for number in range(7):
        await heard.errors(context.directory / f"needs{number}.find", 1)
    later = await run(context, write.TOOL, filePath="base.find", content="nothing more\n")
    told = gone.output + later.output
    assert "New errors in other files, whose own text did not change:" in told
    assert "needs0.find:\n  1:1 base.find is not here [finder]" in told
    if "needs6.find" not in told:
        assert "(2 more files)" in told
        assert "needs5.find" not in told


@pytest.mark.parametrize("mode", ["silent", "gone"])
async def test_a_server_that_says_nothing_or_ends_is_no_error(configured: Configured, mode: str) -> None:
    context = configured(lsp=finder(mode), experimental={"lsp_timeout": 200})
    result = await run(context, write.TOOL, filePath="a.find", content="wrong\n")
    assert result.output == "Created a.find (1 lines)."
    assert result.metadata["diagnostics"] == {}


async def test_a_command_that_is_not_there_is_no_error(configured: Configured) -> None:
    context = configured(lsp={"none": {"command": ["/nowhere/server"], "extensions": [".find"]}})
    result = await run(context, write.TOOL, filePath="a.find", content="wrong\n")
    assert result.output == "Created a.find (1 lines)."


async def test_a_stop_ends_the_waiting_and_the_edit_is_told(configured: Configured) -> None:
    context = configured(lsp=finder("silent"), experimental={"lsp_timeout": 60_000})
    (context.directory / "a.find").write_text("wrong\n")
    task = asyncio.create_task(with_diagnostics(context, RESULT, {context.directory / "a.find": b"wrong\n"}))
    await asyncio.sleep(0)
    context.abort.set()
    task.cancel()
    assert await task == RESULT


async def test_what_is_staged_is_looked_at_as_it_will_be(configured: Configured) -> None:
    context = configured(lsp=finder())
    file = context.directory / "a.find"
    file.write_text("wrong on the disk\n")
    staged = await with_diagnostics(context, RESULT, {file: b"fine\nwrong as staged\n"})
    assert "  2:1 wrong as staged [finder]" in staged.output
    removed = await with_diagnostics(context, RESULT, {file: None})
    assert removed.output == RESULT.output


def test_the_limit_is_configured_in_milliseconds() -> None:
    def given(value: Any) -> float:
        return patience(Config.model_validate({"experimental": {"lsp_timeout": value}}))

    assert (patience(Config()), given(500), given(0)) == (3.0, 0.5, 0.0)
    assert [given(value) for value in (-1, "soon", None, 10**9)] == [3.0] * 4

"""Review mode through the real server: edits wait, the agent sees them, a person keeps or drops them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.runtime.staging import EDITED, LINES, keys, opened, outputs, write
from tests.server import serving


@pytest.mark.proc
async def test_a_file_that_is_moved_and_kept_has_its_mode(home: Path, project: Path) -> None:
    (project / "hello.py").chmod(0o750)
    body = "*** Update File: {}\n*** Move to: {}"
    moves = [body.format("hello.py", "first.py"), body.format("first.py", "second.py")]
    patches = [f"*** Begin Patch\n{move}\n*** End Patch" for move in moves]
    script = [
        *(Turn(tools=[ToolUse("apply_patch", {"patchText": text})]) for text in patches),
        Turn(text="Done."),
    ]
    async with serving(home, project, script) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Move it.")
        assert (await page.post("staging/keep", file="second.py")).status_code == 204
    assert (project / "second.py").stat().st_mode & 0o777 == 0o750


@pytest.mark.proc
async def test_the_agent_sees_its_staged_edits_and_the_disk_has_what_is_kept(
    home: Path, project: Path
) -> None:
    (project / "long.txt").write_text(LINES)
    (project / "gone.py").write_text("needle = 1\n")
    remove = "*** Begin Patch\n*** Delete File: gone.py\n*** End Patch"
    script = [
        Turn(tools=[write("long.txt", EDITED)]),
        Turn(tools=[write("sub/new.py", "needle = 2\n")]),
        Turn(tools=[ToolUse("apply_patch", {"patchText": remove})]),
        Turn(tools=[ToolUse("read", {"filePath": "long.txt", "limit": 3})]),
        Turn(tools=[ToolUse("grep", {"pattern": "needle|two"})]),
        Turn(tools=[ToolUse("glob", {"pattern": "**/*.py"})]),
        Turn(tools=[ToolUse("list", {})]),
        Turn(tools=[ToolUse("read", {"filePath": "."})]),
        Turn(tools=[ToolUse("edit", {"filePath": "long.txt", "oldString": "two", "newString": "TWO"})]),
        Turn(text="Done."),
    ]
    async with serving(home, project, script) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Change it.")
        said = await outputs(client, page.id)
        assert "Staged for review" in said[0]
        assert "line two" in said[3]
        assert "needle = 2" in said[4]
        assert "line two" in said[4]
        assert "needle = 1" not in said[4]
        assert set(said[5].splitlines()) == {"hello.py", "sub/new.py", "(2 files)"}
        assert "new.py" in said[6]
        assert "gone.py" not in said[6]
        assert said[7].split()[1:] == [".git/", "hello.py", "long.txt", "sub/"]
        assert "Staged for review" in said[8]

        assert (project / "long.txt").read_text() == LINES
        assert not (project / "sub").exists()
        assert (project / "gone.py").exists()
        assert await client.get(f"/session/{page.id}/diff") == []

        final = EDITED.replace("two", "TWO")
        first, second = keys(LINES, final)
        assert (await page.post("staging/keep", file="long.txt", hunk=first)).status_code == 204
        assert (project / "long.txt").read_text() == LINES.replace("line 2\n", "line TWO\n")
        assert "long.txt" in await page.listed()
        (rest,) = keys((project / "long.txt").read_text(), final)
        assert rest == second
        await page.post("staging/drop", file="long.txt", hunk=second, words="Not that one.")
        assert "long.txt" not in await page.listed()
        assert (project / "long.txt").read_text() == LINES.replace("line 2\n", "line TWO\n")
        await page.post("staging/keep")
        assert (project / "sub/new.py").read_text() == "needle = 2\n"
        assert not (project / "gone.py").exists()
        assert "Nothing waits" in await page.listed()

        diff = await client.get(f"/session/{page.id}/diff")
        assert {item["file"] for item in diff} == {"long.txt", "sub/new.py", "gone.py"}
        prompt = (await client.messages(page.id))[0]["info"]["id"]
        await client.revert(page.id, prompt)
        assert (project / "long.txt").read_text() == LINES
        assert not (project / "sub").exists()
        assert (project / "gone.py").read_text() == "needle = 1\n"


async def test_a_persons_lines_survive_a_keep_and_a_conflict_leaves_the_file(
    home: Path, project: Path
) -> None:
    for name in ("far.txt", "same.txt"):
        (project / name).write_text(LINES)
    script = [Turn(tools=[write("far.txt", EDITED), write("same.txt", EDITED)]), Turn(text="Done.")]
    async with serving(home, project, script) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Change both.")
        theirs = LINES.replace("line 15\n", "mine\n")
        (project / "far.txt").write_text(theirs)
        (project / "same.txt").write_text(LINES.replace("line 2\n", "mine\n"))
        assert (await page.listed()).count("changed since") == 2
        assert "same.txt: the same lines have been changed" in await page.refused("staging/keep")
        both = EDITED.replace("line 15\n", "mine\n")
        assert (project / "far.txt").read_text() == both
        assert (project / "same.txt").read_text() == LINES.replace("line 2\n", "mine\n")
        assert "far.txt" not in await page.listed()
        assert "same.txt" in await page.listed()
        assert "the same lines" in await page.refused("staging/keep", file="same.txt")
        await page.post("staging/drop")
        assert (project / "same.txt").read_text() == LINES.replace("line 2\n", "mine\n")
        assert "Nothing of this waits" in await page.refused("staging/keep")


async def test_verdicts_are_taken_back_and_given_again(home: Path, project: Path) -> None:
    (project / "long.txt").write_text(LINES)
    script = [Turn(tools=[write("long.txt", EDITED), write("new.txt", "new\n")]), Turn(text="Done.")]
    async with serving(home, project, script) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Change it.")
        first = keys(LINES, EDITED)[0]

        async def verdict(what: str, **form: Any) -> str:
            """The URL that takes it back."""
            note = (await page.post(what, noted="1", **form)).text
            (operation,) = set(re.findall(r"/staging/back/(opn_\w+)", note))
            return f"staging/back/{operation}"

        kept = await verdict("staging/keep", file="long.txt", hunk=first)
        restaged = await verdict(kept)
        assert (project / "long.txt").read_text() == LINES
        assert "already" in await page.refused(kept)
        await verdict(restaged)
        assert (project / "long.txt").read_text() == LINES.replace("line 2\n", "line two\n")
        dropped = await verdict("staging/drop")
        assert "Nothing waits" in await page.listed()
        (project / "long.txt").write_text("mine\n" + (project / "long.txt").read_text())
        await verdict(dropped)
        await verdict("staging/keep")
        assert (project / "long.txt").read_text() == "mine\n" + EDITED
        assert (project / "new.txt").read_text() == "new\n"


async def test_the_model_is_told_what_was_kept_and_dropped(home: Path, project: Path) -> None:
    (project / "long.txt").write_text(LINES)
    script = [
        Turn(tools=[write("long.txt", EDITED), write("new.txt", "new\n")]),
        Turn(text="Staged."),
        Turn(text="I see."),
        Turn(text="And again."),
    ]
    async with serving(home, project, script) as (client, model):
        page = await opened(client)
        await client.prompt(page.id, "Change it.")
        first, second = keys(LINES, EDITED)
        await page.post("staging/keep", file="long.txt", hunk=first)
        await page.post("staging/drop", file="long.txt", hunk=second, words="Twenty-eight stays.")
        note = (await page.post("staging/keep", file="new.txt", noted="1")).text
        await client.prompt(page.id, "Go on.")
        told = str(model.requests[2].body["messages"][2:])
        assert "long.txt: the hunk at line 2" in told
        assert "- new.txt" in told
        assert "line twenty-eight" in told.partition("taken these back")[2]
        assert "Twenty-eight stays." in told
        (operation,) = set(re.findall(r"/staging/back/(opn_\w+)", note))
        await page.post(f"staging/back/{operation}")
        await client.prompt(page.id, "And now?")
        kept = str(model.requests[3].body["messages"]).rpartition("has kept these")[2]
        assert ("long.txt" in kept, "- new.txt" in kept) == (True, False)


async def test_what_was_kept_whole_waits_again(home: Path, project: Path) -> None:
    script = [Turn(tools=[write("hello.py", "bye\n"), write("sub/new.txt", "new\n")]), Turn(text="Done.")]
    async with serving(home, project, script) as (client, _):
        page = await opened(client)
        await client.prompt(page.id, "Change it.")
        before = (project / "hello.py").read_bytes()
        note = (await page.post("staging/keep", noted="1")).text
        assert "Kept 2 files." in note
        (operation,) = re.findall(r"/staging/back/(opn_\w+)", note)
        await page.post(f"staging/back/{operation}")
        assert (project / "hello.py").read_bytes() == before
        assert not (project / "sub").exists()
        assert {"hello.py", "new.txt"} <= set(re.findall(r"[\w.]+(?=</span>)", await page.listed()))
        assert await client.get(f"/session/{page.id}/diff") == []
        await page.post("staging/keep")
        assert (project / "sub/new.txt").read_text() == "new\n"

"""A folder beside the project that may be written: tools and commands write there, each change is noted with
the folder's own project, and an undo of the message takes back both."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import httpx
import pytest

from agents.toolkit.sandbox import probe
from tests.loopback.script import ToolUse, Turn
from tests.runtime.asking import stage
from tests.runtime.staging import HEADERS, Page
from tests.runtime.test_added_folders import ASKING, bash
from tests.server import parts_of

SPELLER = Path(__file__).parents[1] / "agents" / "servers" / "lsp" / "speller.py"
confined = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "library"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "greet.py").write_text("def greet():\n    return 'hello'\n")
    return folder


def contents(*roots: Path) -> dict[Path, bytes]:
    found = (path for root in roots for path in root.rglob("*"))
    return {path: path.read_bytes() for path in found if path.is_file() and ".git" not in path.parts}


@pytest.mark.proc
async def test_what_tools_and_commands_write_is_undone(home: Path, project: Path, library: Path) -> None:
    greet, beside = library / "src" / "greet.py", project / "beside.txt"
    added = "*** Add File: library/deep/new.py\n+x = 1\n*** Add File: beside.txt\n+y\n"
    patch = f"*** Begin Patch\n{added}*** End Patch"
    calls = [
        ToolUse("read", {"filePath": "library/src/greet.py"}),
        ToolUse("edit", {"filePath": str(greet), "oldString": "hello", "newString": "bye"}),
        ToolUse("write", {"filePath": "library/made.txt", "content": "made\n"}),
        ToolUse("apply_patch", {"patchText": patch}),
        bash(f"echo more >> {library}/made.txt; echo shell > {library}/shell.txt; echo here > here.txt"),
    ]
    script = [Turn(tools=[call]) for call in calls]
    async with stage(home, project, [*script, Turn(text="Done.")], permission=ASKING, sandbox="off") as on:
        session = (await on.client.create_session())["id"]
        before = contents(project, library)
        body = {"folders": [{"path": str(library), "write": True}]}
        answer = await on.client.http.patch(f"/session/{session}", json=body)
        assert answer.json()["folders"] == [{"name": "library", "path": str(library), "write": True}]
        await on.client.prompt(session, "Go.")
        messages = await on.client.messages(session)
        states = [part["state"] for part in parts_of(messages, "tool")]
        assert [state["status"] for state in states] == ["completed"] * len(calls), states
        assert f"library: {library} (may be written)" in json.dumps(on.model.requests[-1].body)
        assert "bye" in greet.read_text()
        assert (library / "made.txt").read_text() == "made\nmore\n"
        assert beside.read_text() == "y\n"
        after = contents(project, library)

        diff = (await on.client.http.get(f"/session/{session}/diff")).json()
        expected = {"src/greet.py", "made.txt", "deep/new.py", "shell.txt"}
        names = {item["file"] for item in diff}
        assert names == {str(library / name) for name in expected} | {"beside.txt", "here.txt"}

        prompt = next(message["info"]["id"] for message in messages if message["info"]["role"] == "user")
        (
            await on.client.http.post(f"/session/{session}/revert", json={"messageID": prompt})
        ).raise_for_status()
        assert contents(project, library) == before
        assert not (library / "deep").exists()
        (await on.client.http.post(f"/session/{session}/unrevert")).raise_for_status()
        assert contents(project, library) == after


@confined
async def test_the_sandbox_lets_it_be_written_and_holds_its_hooks(
    home: Path, project: Path, library: Path
) -> None:
    write = "python3 -c 'import sys; open(sys.argv[1], \"w\")'"
    (library / ".git" / "hooks").mkdir(parents=True)
    (library / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    calls = [
        bash("echo x > new.txt", workdir="library"),
        bash(f"{write} .git/hooks/pre-commit", workdir="library"),
        bash(f"{write} opencode.json", workdir="library"),
    ]
    script = [Turn(tools=[call]) for call in calls]
    async with stage(
        home, project, [*script, Turn(text="Done.")], permission=ASKING, sandbox="offline"
    ) as on:
        session = (await on.client.create_session())["id"]
        body = {"folders": [{"path": str(library), "write": True}]}
        (await on.client.http.patch(f"/session/{session}", json=body)).raise_for_status()
        await on.client.prompt(session, "Go.")
        messages = await on.client.messages(session)
        written, hook, own = (part["state"] for part in parts_of(messages, "tool"))
        assert (library / "new.txt").read_text() == "x\n", written
        assert not (library / ".git" / "hooks" / "pre-commit").exists(), hook
        assert not (library / "opencode.json").is_file(), own
        prompt = next(message["info"]["id"] for message in messages if message["info"]["role"] == "user")
        (
            await on.client.http.post(f"/session/{session}/revert", json={"messageID": prompt})
        ).raise_for_status()
        assert not (library / "new.txt").exists()


@pytest.mark.proc  # ripgrep sorts by time where it finds itself
async def test_review_mode_reaches_there(home: Path, project: Path, library: Path) -> None:
    """An edit waits, the agent sees it where it will be, and it is kept in the folder."""
    (library / ".gitignore").write_text("*.log\n")
    patch = (
        "*** Begin Patch\n*** Update File: library/src/greet.py\n*** Move to: library/src/say.py\n"
        "@@ def greet():\n-    return 'bye'\n+    return 'farewell'\n"
        "*** Add File: own.txt\n+own\n*** End Patch"
    )
    calls = [
        ToolUse("edit", {"filePath": "library/src/greet.py", "oldString": "hello", "newString": "bye"}),
        ToolUse("write", {"filePath": "library/src/made.log", "content": "made\n"}),
        ToolUse("write", {"filePath": "library/opencode.json", "content": "{}\n"}),
        ToolUse("apply_patch", {"patchText": patch}),
        ToolUse("read", {"filePath": str(library / "src" / "say.py")}),
        ToolUse("grep", {"pattern": "farewell|made", "path": "library/src"}),
        ToolUse("glob", {"pattern": "**/*", "path": "library"}),
        bash("cat own.txt library/src/say.py"),
    ]
    script = [Turn(tools=[call]) for call in calls]
    rules = {"*": "allow", "edit": "ask"}
    async with stage(home, project, [*script, Turn(text="Done.")], permission=rules, sandbox="off") as on:
        session = await on.client.create_session()
        body = {"folders": [{"path": str(library), "write": True}], "staging": True}
        (await on.client.http.patch(f"/session/{session['id']}", json=body)).raise_for_status()
        before = contents(project, library)
        await on.client.prompt(session["id"], "Go.")
        messages = await on.client.messages(session["id"])
        said = [part["state"].get("output", "") for part in parts_of(messages, "tool")]
        assert ["Staged for review" in text for text in said] == [True] * 4 + [False] * 4, said
        assert contents(project, library) == before
        assert "return 'farewell'" in said[4]
        assert "say.py" in said[5]
        assert "made.log" not in said[5]
        assert "src/say.py" in said[6]
        assert "greet.py" not in said[6]
        assert said[7].startswith("[Review mode: this ran on the working tree")
        assert str(library / "src" / "say.py") in said[7].splitlines()[0]

        page = Page(on.client, session)
        await page.post("staging/keep")
        assert "farewell" in (library / "src" / "say.py").read_text()
        assert not (library / "src" / "greet.py").exists()
        assert (library / "src" / "made.log").read_text() == "made\n"
        assert (project / "own.txt").read_text() == "own\n"
        assert not (library / "opencode.json").exists(), "its own settings take a yes of their own"
        await page.post("staging/keep", file=str(library / "opencode.json"))
        assert (library / "opencode.json").read_text() == "{}\n"

        prompt = next(message["info"]["id"] for message in messages if message["info"]["role"] == "user")
        await on.client.revert(session["id"], prompt)
        assert contents(project, library) == before


async def test_what_waits_in_a_folder_that_is_no_longer_added_is_still_decided(
    home: Path, project: Path, library: Path
) -> None:
    script = [
        Turn(tools=[ToolUse("write", {"filePath": f"library/{name}", "content": "made\n"})])
        for name in ("kept.txt", "dropped.txt")
    ]
    async with stage(home, project, [*script, Turn(text="Done.")], permission=ASKING) as on:
        session = await on.client.create_session()
        where = f"/session/{session['id']}"
        body = {"folders": [{"path": str(library), "write": True}], "staging": True}
        (await on.client.http.patch(where, json=body)).raise_for_status()
        await on.client.prompt(session["id"], "Go.")
        (await on.client.http.patch(where, json={"folders": []})).raise_for_status()
        page = Page(on.client, session)
        assert "library/" in await page.listed()
        await page.post("staging/drop", file=str(library / "dropped.txt"))
        await page.post("staging/keep")
        assert (library / "kept.txt").read_text() == "made\n"
        assert not (library / "dropped.txt").exists()

        log = (await on.client.http.get(f"/p/{session['projectID']}/log")).text
        assert str(library) in log
        addresses = dict.fromkeys(re.findall(r"/p/\w+/log/operations/\w+/invert", log))
        assert len(addresses) == 2
        for address in addresses:
            (await on.client.http.post(address, headers=HEADERS)).raise_for_status()
        assert not (library / "kept.txt").exists()
        shown = await page.listed()
        assert "kept.txt" in shown
        assert "dropped.txt" in shown


async def test_what_waits_in_one_of_them_says_nothing_of_the_other(
    home: Path, project: Path, library: Path
) -> None:
    """Files of the same path: turned off, review mode holds what waits, and asks for the other."""
    calls = [
        ToolUse("write", {"filePath": "opencode.json", "content": "{}\n"}),
        ToolUse("write", {"filePath": "library/opencode.json", "content": "{}\n"}),
    ]
    script = [Turn(tools=[calls[0]]), Turn(text="Staged."), Turn(tools=[calls[1]]), Turn(text="Done.")]
    async with stage(home, project, script, permission=ASKING) as on:
        session = (await on.client.create_session())["id"]
        body = {"folders": [{"path": str(library), "write": True}], "staging": True}
        (await on.client.http.patch(f"/session/{session}", json=body)).raise_for_status()
        await on.client.prompt(session, "Go.")
        (await on.client.http.patch(f"/session/{session}", json={"staging": False})).raise_for_status()
        await on.client.prompt_async(session, "Go on.")
        asked = await on.asked()
        assert asked["permission"] == "edit"
        assert str(library / "opencode.json") in asked["patterns"]
        await on.client.abort(session)
    assert not (library / "opencode.json").exists()


async def test_its_settings_ask(home: Path, project: Path, library: Path) -> None:
    settings = ToolUse("write", {"filePath": "library/opencode.json", "content": "{}\n"})
    script = [Turn(tools=[settings]), Turn(text="Done.")]
    async with stage(home, project, script, permission={"external_directory": "ask"}) as on:
        session = (await on.client.create_session())["id"]
        body = {"folders": [{"path": str(library), "write": True}]}
        (await on.client.http.patch(f"/session/{session}", json=body)).raise_for_status()
        await on.client.prompt_async(session, "Go.")
        asked = await on.asked()
        assert asked["permission"] == "edit"
        assert "opencode.json" in asked["patterns"]
        await on.client.abort(session)
    assert not (library / "opencode.json").exists()


async def test_only_a_whole_project_is_written(home: Path, project: Path, library: Path) -> None:
    (library / ".git").mkdir()
    folders = [{"path": str(library / "src"), "write": True}]
    async with stage(home, project, [Turn(text="Done.")], permission=ASKING, folders=folders) as on:
        session = (await on.client.create_session())["id"]
        with pytest.raises(httpx.HTTPStatusError) as refused:
            await on.client.http.patch(f"/session/{session}", json={"folders": folders})
        assert "is in the repository" in refused.value.response.text
        await on.client.prompt(session, "Go.")
        assert "src: " not in json.dumps(on.model.requests[-1].body)


def tools_of_the_folder(library: Path, seen: Path) -> str:
    """A configuration of it that runs programs, which says in `seen` that they ran."""
    runs = {"command": ["sh", "-c", f"echo theirs >> {seen}; exec cat"], "extensions": [".txt"]}
    formats = {"command": ["sh", "-c", f"echo theirs >> {seen}", "$FILE"], "extensions": [".txt"]}
    return json.dumps({"lsp": {"theirs": runs}, "formatter": {"theirs": formats}})


async def test_formatters_servers_and_instructions_are_those_of_the_folder(
    home: Path, project: Path, library: Path
) -> None:
    starts, seen, script = home / "starts", home / "seen", home / "upper.sh"
    script.write_text('#!/bin/sh\npwd > "$2"\ntr a-z A-Z < "$1" > "$1.tmp" && mv "$1.tmp" "$1"\n')
    script.chmod(0o755)
    server = {"command": [sys.executable, str(SPELLER), str(starts)], "extensions": [".txt", ".md"]}
    upper = {"command": [str(script), "$FILE", str(home / "where")], "extensions": [".loud"]}
    (library / "opencode.json").write_text(tools_of_the_folder(library, seen))
    (library / "AGENTS.md").write_text("Keep it small.\n")
    (library / "src" / "AGENTS.md").write_text("Write no comments.\n")
    (library / "src" / "other.txt").write_text("all is well\n")
    calls = [
        ToolUse("read", {"filePath": "library/src/greet.py"}),
        ToolUse("write", {"filePath": "library/a.loud", "content": "loud\n"}),
        ToolUse("write", {"filePath": "library/a.md", "content": "this is wrong\n"}),
        ToolUse("write", {"filePath": "library/a.txt", "content": "this is wrong\n"}),
    ]
    script_of = [*(Turn(tools=[call]) for call in calls), Turn(text="Done.")]
    config = {"lsp": {"speller": server}, "formatter": {"upper": upper}, "sandbox": "off"}
    async with stage(home, project, script_of, permission=ASKING, **config) as on:
        session = (await on.client.create_session())["id"]
        body = {"folders": [{"path": str(library), "write": True}]}
        (await on.client.http.patch(f"/session/{session}", json=body)).raise_for_status()
        await on.client.prompt(session, "Go.")
        messages = await on.client.messages(session)
        states = [part["state"] for part in parts_of(messages, "tool")]
        assert [state["status"] for state in states] == ["completed"] * len(calls), states
        told = json.dumps(on.model.requests[1].body)
        assert told.index("Keep it small.") < told.index("Write no comments.")
        assert "Keep it small." not in json.dumps(on.model.requests[0].body)

        assert (library / "a.loud").read_text() == "LOUD\n"
        assert (home / "where").read_text().strip() == str(library)
        assert f"Errors in {library}/a.md as it is now" in states[2]["output"]
        assert f"Errors in {library}/a.txt as it is now" in states[3]["output"]
        assert starts.read_text().split() == [str(library)]
        assert not seen.exists(), "what an untrusted folder names does not run"
        symbols = await on.client.http.get("/pickers/symbols", params={"session": session, "q": "a.md"})
        assert 'data-insert="@library/a.md#a.md"' in symbols.text
        assert f"file://{library}/a.md?start=1&amp;end=1" in symbols.text
        count = await on.client.http.get("/pickers/problems/count", params={"session": session})
        assert "Problems: 2 errors" in count.text

        prompt = next(message["info"]["id"] for message in messages if message["info"]["role"] == "user")
        answer = await on.client.http.post(f"/session/{session}/revert", json={"messageID": prompt})
        answer.raise_for_status()
        assert not (library / "a.loud").exists()

"""`/experimental/worktree`: made from the last commit, and never taken away with what only they have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.conftest import repository
from tests.protocol.served import Served
from tests.protocol.test_vcs import SHAPE, git

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATH = "/experimental/worktree"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository in which something is not committed."""
    folder = tmp_path / "original"
    folder.mkdir()
    repository(folder)
    (folder / "hello.py").write_text("not committed\n")
    return folder


async def made(served: Served, folder: Path, **body: Any) -> Path:
    return Path((await served.post(PATH, body, directory=str(folder)))["directory"])


async def test_one_is_made_from_the_last_commit(served: Served, folder: Path) -> None:
    place: dict[str, Any] = {"directory": str(folder)}
    answer = await served.post(PATH, {"name": "My Tree"}, **place)
    assert (answer["name"], answer["branch"]) == ("my-tree", "opencode/my-tree")
    tree = Path(answer["directory"])
    assert (tree / "hello.py").read_text().startswith("def hello")
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "branch", "--show-current") == "opencode/my-tree\n"
    again = await made(served, folder, name="My Tree")
    assert again != tree
    nameless = await made(served, folder)
    folders = [str(tree), str(again), str(nameless)]
    assert sorted(await served.get(PATH, **place)) == sorted(folders)
    assert sorted(await served.get(PATH, directory=str(tree))) == sorted(folders)
    project = await served.get("/project/current", **place)
    assert sorted(project["sandboxes"]) == sorted(folders)
    known = await served.get(f"/project/{project['id']}/directories")
    assert {"directory": str(tree), "strategy": "git_worktree"} in known


async def test_its_commands_run_in_a_terminal_of_it(served: Served, folder: Path) -> None:
    place: dict[str, Any] = {"directory": str(folder)}
    project = await served.get("/project/current", **place)
    await served.ask("PATCH", f"/project/{project['id']}", {"commands": {"start": "pwd > where"}}, **place)
    async with served.http.stream("GET", "/global/event") as stream:
        frames = (json.loads(line[5:]) async for line in stream.aiter_lines() if line.startswith("data:"))
        assert (await anext(frames))["payload"]["type"] == "server.connected"
        tree = await made(served, folder, name="Started", startCommand="cat where >> where2; exit 3")
        told = {}
        async for frame in frames:
            if frame.get("directory") == str(tree):
                told[frame["payload"]["type"]] = frame["payload"]["properties"]
            if "pty.exited" in told:
                break
    assert told["worktree.ready"] == {"name": "started", "branch": "opencode/started"}
    assert told["pty.exited"]["exitCode"] == 3
    assert (tree / "where2").read_text() == f"{tree}\n"


async def test_a_clean_one_goes_with_its_branch(served: Served, folder: Path) -> None:
    tree = await made(served, folder, name="Clean")
    assert await served.ask("DELETE", PATH, {"directory": str(tree)}, directory=str(folder)) is True
    assert not tree.exists()
    assert "opencode/clean" not in git(folder, "branch", "--list")
    assert await served.get(PATH, directory=str(folder)) == []
    assert await made(served, folder, name="Clean") != tree  # that folder has a history here


async def test_what_only_it_has_is_not_taken_away(served: Served, folder: Path) -> None:
    place: dict[str, Any] = {"directory": str(folder)}
    tree = await made(served, folder, name="Dirty")
    (tree / "hello.py").write_text("work\n")
    (tree / "new.py").touch()
    for method, path in (("DELETE", PATH), ("POST", f"{PATH}/reset")):
        answer = await served.ask(method, path, {"directory": str(tree)}, status=400, **place)
        assert "1 changed file and 1 new file" in answer["data"]["message"]
    assert (tree / "hello.py").read_text() == "work\n"


async def test_one_goes_to_where_the_default_branch_is(served: Served, folder: Path) -> None:
    place: dict[str, Any] = {"directory": str(folder)}
    tree = await made(served, folder, name="Behind")
    git(folder, "commit", "-qam", "Second")
    assert await served.post(f"{PATH}/reset", {"directory": str(tree)}, **place) is True
    assert (tree / "hello.py").read_text() == "not committed\n"
    (tree / "own.py").touch()
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "Only here")
    answer = await served.post(f"{PATH}/reset", {"directory": str(tree)}, status=400, **place)
    assert (answer["name"], answer["data"]["message"]) == (
        "WorktreeResetFailedError",
        "The worktree has 1 commit that would be lost.",
    )
    assert (tree / "own.py").exists()


async def test_what_is_no_worktree_of_the_project(served: Served, folder: Path, tmp_path: Path) -> None:
    tree = await made(served, folder, name="Other")
    (tmp_path / "plain").mkdir()
    for where, given in ((folder, folder), (folder, tmp_path / "gone"), (tmp_path / "plain", tree)):
        for method, path in (("DELETE", PATH), ("POST", f"{PATH}/reset")):
            await served.ask(method, path, {"directory": str(given)}, status=400, directory=str(where))
    assert tree.exists()
    assert (folder / ".git").exists()
    answer = await served.post(PATH, {}, status=400, directory=str(tmp_path / "plain"))
    assert answer["name"] == "WorktreeNotGitError"


@pytest.mark.parametrize(
    ("method", "body", "field"), [("POST", {"name": 3}, "name"), ("DELETE", {}, "directory")]
)
async def test_a_body_that_is_not_taken(served: Served, method: str, body: Any, field: str) -> None:
    answer = await served.ask(method, PATH, body, status=400, departs=SHAPE)
    assert answer["data"]["message"].startswith(f"{field}: ")


async def test_a_repository_without_a_commit(served: Served, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    answer = await served.post(PATH, {}, status=400, directory=str(tmp_path))
    assert answer["name"] == "WorktreeCreateFailedError"


async def test_nothing_of_the_repository_runs(served: Served, folder: Path, tmp_path: Path) -> None:
    mark, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> {mark}\ncat\n")
    program.chmod(0o755)
    (folder / ".gitattributes").write_text("*.py filter=a=b\n")
    git(folder, "add", ".gitattributes")
    git(folder, "commit", "-qm", "Attributes")
    for setting in ("core.fsmonitor", "filter.a=b.smudge", "filter.a=b.clean", "filter.a=b.process"):
        git(folder, "config", setting, str(program))
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        (folder / ".git" / "hooks" / hook).write_text(program.read_text())
        (folder / ".git" / "hooks" / hook).chmod(0o755)
    tree = await made(served, folder, name="Safe")
    assert (tree / "hello.py").read_text().startswith("def hello")
    await served.post(f"{PATH}/reset", {"directory": str(tree)}, directory=str(folder))
    await served.ask("DELETE", PATH, {"directory": str(tree)}, directory=str(folder))
    assert not mark.exists(), mark.read_text()

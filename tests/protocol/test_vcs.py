"""`/vcs…`, `/file/status`: what git says, patches, and repositories that would run something."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.conftest import repository
from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHAPE = "OpenCode has this error in another shape than its document"
HELLO = "def hello():\n    return 'hello'\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """On branch `work`, a commit away from `main`: one file changed, one gone, two new, one ignored."""
    folder = tmp_path / "vcs"
    folder.mkdir()
    repository(folder)
    git(folder, "checkout", "-q", "-b", "work")
    (folder / "done.py").write_text("done\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Second")
    (folder / "hello.py").write_text(HELLO.replace("'hello'", "'bye'"))
    (folder / "src" / "app.py").unlink()
    (folder / "src" / 'new "file".txt').write_text("1\n2\n")
    (folder / "bytes.bin").write_bytes(b"\0\1")
    (folder / ".git" / "info" / "exclude").write_text("*.log\n")
    (folder / "build.log").touch()
    return folder


def patch_of(path: str, *, old: str = "", new: str = "") -> str:
    """A patch that puts one line in another's place, or makes a file."""
    before = f"--- a/{path}\n" if old else "new file mode 100644\n--- /dev/null\n"
    body = f"@@ -1 +1 @@\n-{old}\n+{new}\n" if old else f"@@ -0,0 +1 @@\n+{new}\n"
    return f"diff --git a/{path} b/{path}\n{before}+++ b/{path}\n{body}"


async def test_the_branch_and_the_one_it_came_from(served: Served, folder: Path) -> None:
    place = {"directory": str(folder)}
    assert await served.get("/vcs", **place) == {"branch": "work", "default_branch": "main"}
    git(folder, "checkout", "-q", "--detach")
    assert await served.get("/vcs", **place) == {"default_branch": "main"}


async def test_what_is_changed_in_lines(served: Served, folder: Path) -> None:
    index = (folder / ".git" / "index").read_bytes()
    found = await served.get("/vcs/status", directory=str(folder))
    assert [(item["file"], item["additions"], item["deletions"], item["status"]) for item in found] == [
        ("bytes.bin", 0, 0, "added"),
        ("hello.py", 1, 1, "modified"),
        ("src/app.py", 0, 3, "deleted"),
        ('src/new "file".txt', 2, 0, "added"),
    ]
    below = await served.get("/file/status", directory=str(folder / "src"))
    assert below[1] == {"path": 'src/new "file".txt', "added": 2, "removed": 0, "status": "added"}
    assert [item["path"] for item in below] == ["src/app.py", 'src/new "file".txt']
    assert (folder / ".git" / "index").read_bytes() == index


async def test_patches_against_the_commit_and_against_the_branch(served: Served, folder: Path) -> None:
    place = {"directory": str(folder)}
    own = {item["file"]: item for item in await served.get("/vcs/diff", mode="git", **place)}
    assert "\n-    return 'hello'\n+    return 'bye'\n" in own["hello.py"]["patch"]
    assert "\n def hello" in own["hello.py"]["patch"]
    assert "Binary files" in own["bytes.bin"]["patch"]
    since = {item["file"]: item for item in await served.get("/vcs/diff", mode="branch", context=0, **place)}
    assert since.keys() - own.keys() == {"done.py"}
    assert "\n def hello" not in since["hello.py"]["patch"]
    git(folder, "stash", "-q", "-u")
    git(folder, "checkout", "-q", "main")
    (folder / "hello.py").write_text("")
    assert await served.get("/vcs/diff", mode="branch", **place) == []


async def test_all_of_it_as_one_patch_that_can_be_applied(
    served: Served, folder: Path, tmp_path: Path
) -> None:
    (folder / "bytes.bin").unlink()
    raw = await served.get("/vcs/diff/raw", directory=str(folder))
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(folder), str(other))
    assert await served.post("/vcs/apply", {"patch": raw}, directory=str(other / "src")) == {"applied": True}
    for name in ("hello.py", 'src/new "file".txt'):
        assert (other / name).read_text() == (folder / name).read_text()
    assert not (other / "src" / "app.py").exists()
    assert git(other, "diff", "--cached") == ""


async def test_a_patch_is_told_to_who_listens(served: Served, folder: Path) -> None:
    patch, place = patch_of("note.txt", new="hello"), {"directory": str(folder)}
    async with served.http.stream("GET", "/event", params=place) as stream:
        frames = (json.loads(line[5:]) async for line in stream.aiter_lines() if line.startswith("data:"))
        assert (await anext(frames))["type"] == "server.connected"
        await served.post("/vcs/apply", {"patch": patch}, **place)
        told = await anext(frame async for frame in frames if frame["type"] == "file.watcher.updated")
    assert told["properties"] == {"file": str(folder / "note.txt"), "event": "add"}


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "no patch",
        patch_of("../outside.txt", new="x"),
        patch_of("link/outside.txt", new="x"),
        patch_of(".git/hooks/pre-commit", new="x"),
        patch_of("done.py", old="something else", new="x"),
        patch_of("done.py", old="done", new="x") + patch_of("hello.py", old="nothing", new="y"),
    ],
)
async def test_a_patch_that_does_not_apply_changes_nothing(served: Served, folder: Path, patch: str) -> None:
    (folder / "link").symlink_to("..")
    before = git(folder, "status", "--porcelain")
    answer = await served.post("/vcs/apply", {"patch": patch}, directory=str(folder), status=400)
    assert (answer["name"], answer["data"]["reason"]) == ("VcsApplyError", "not-clean")
    assert git(folder, "status", "--porcelain") == before
    assert not (folder.parent / "outside.txt").exists()
    assert not (folder / ".git" / "hooks" / "pre-commit").exists()
    assert (folder / "done.py").read_text() == "done\n"


async def test_where_there_is_no_repository(served: Served, tmp_path: Path) -> None:
    place = {"directory": str(tmp_path)}
    assert await served.get("/vcs", **place) == {}
    assert await served.get("/vcs/status", **place) == []
    assert await served.get("/vcs/diff", mode="git", **place) == []
    assert (await served.http.get("/vcs/diff/raw", params=place)).text == ""
    answer = await served.post("/vcs/apply", {"patch": "x"}, status=400, **place)
    assert answer["data"]["reason"] == "non-git"


async def test_a_repository_without_a_commit(served: Served, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "first.txt").write_text("1\n")
    (item,) = await served.get("/vcs/status", directory=str(tmp_path))
    assert item == {"file": "first.txt", "additions": 1, "deletions": 0, "status": "added"}


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/vcs/diff", {}, "mode"),
        ("/vcs/diff", {"mode": "x"}, "mode"),
        ("/vcs/diff", {"mode": "git", "context": "-1"}, "context"),
    ],
)
async def test_a_query_that_is_not_taken(served: Served, path: str, query: Any, field: str) -> None:
    answer = await served.ask("GET", path, status=400, **query)
    assert answer["data"]["message"].startswith(f"{field}: ")


@pytest.mark.parametrize("body", [{}, {"patch": 3}])
async def test_a_body_that_is_not_taken(served: Served, body: Any) -> None:
    answer = await served.post("/vcs/apply", body, status=400, departs=SHAPE)
    assert answer["data"]["message"].startswith("patch: ")


async def test_nothing_of_a_repository_runs(served: Served, folder: Path, tmp_path: Path) -> None:
    """Its configuration names programs for every occasion, and another folder as its working tree."""
    mark, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> {mark}\ncat\n")
    program.chmod(0o755)
    for setting in (
        "core.fsmonitor", "filter.a=b.clean", "filter.a=b.smudge", "filter.plain.clean", "diff.external",
        "diff.named.command", "diff.named.textconv", "core.pager", "core.editor",
    ):  # fmt: skip
        git(folder, "config", setting, str(program))
    for hook in ("post-index-change", "post-checkout", "reference-transaction", "pre-applypatch"):
        (folder / ".git" / "hooks" / hook).write_text(program.read_text())
        (folder / ".git" / "hooks" / hook).chmod(0o755)
    (folder / ".gitattributes").write_text("*.py filter=a=b diff=named\n*.txt filter=plain diff=named\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "hello.py").write_text("a secret")
    git(folder, "config", "core.worktree", str(tmp_path / "elsewhere"))
    place = {"directory": str(folder)}
    for path, query in (
        ("/vcs", {}),
        ("/vcs/status", {}),
        ("/vcs/diff/raw", {}),
        ("/vcs/diff", {"mode": "git"}),
    ):
        assert "secret" not in str(await served.get(path, **query, **place))
    await served.post("/vcs/apply", {"patch": patch_of("done.py", old="done", new="x")}, **place)
    assert (folder / "done.py").read_text() == "x\n"
    assert await served.get("/find/file", query="hello", **place) == ["hello.py"]
    await served.get("/file", path="", **place)
    assert not mark.exists(), mark.read_text()

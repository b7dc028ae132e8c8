"""A pull request, from a bare repository that stands for the server of a forge."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.server import Server, model_config, running

AS = ("-c", "user.name=A", "-c", "user.email=a@example.com")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *AS, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, name: str) -> str:
    (folder / name).write_text(f"{name}\n")
    git(folder, "add", name)
    git(folder, "commit", "-qm", f"Add {name}")
    return git(folder, "rev-parse", "HEAD")


def with_pull_request(folder: Path, ref: str = "refs/pull/7/head") -> Path:
    """A clone, whose remote has a pull request of number 7."""
    forge, project = folder / "forge.git", folder / "project"
    git(folder, "init", "-q", "--bare", "-b", "main", str(forge))
    git(folder, "init", "-q", "-b", "main", str(project))
    git(project, "remote", "add", "origin", str(forge))
    commit(project, "base.txt")
    git(project, "push", "-q", "origin", "main")
    commit(project, "theirs.txt")
    git(project, "push", "-q", "origin", f"HEAD:{ref}")
    git(project, "reset", "-q", "--hard", "HEAD~1")
    return project


async def test_a_worktree_with_its_files_and_a_session(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    project = with_pull_request(tmp_path)
    (project / "base.txt").write_text("not in a commit\n")
    async with OpenAIServer([Turn(text="Here.")]) as model:
        server = Server(tmp_path / "home", project, model_config(model.base_url))
        async with running(server):
            done = await asyncio.to_thread(server.command, "pr", "7")
            assert done.returncode == 0, done.stderr
            told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[1:3])
            folder = Path(told["Worktree"])
            assert (folder / "theirs.txt").read_text() == "theirs.txt\n"
            assert git(folder, "status", "--porcelain") == ""
            assert git(folder, "branch", "--show-current") in done.stdout
            assert (project / "base.txt").read_text() == "not in a commit\n"
            assert not (project / "theirs.txt").exists()
            listed = await asyncio.to_thread(server.command, "session", "list", "--dir", str(folder))
            assert told["Session"] in listed.stdout
            assert "Pull request 7" in listed.stdout

            none = await asyncio.to_thread(server.command, "pr", "8")
            assert none.returncode == 1
            assert "git fetch failed" in none.stderr
            assert len(git(project, "worktree", "list").splitlines()) == 2


GLAB = """#!/bin/sh
[ "$*" = "mr view 7 -F json" ] && printf '{"iid": 7, "title": "Mend the \\\\u001b[2J door"}'
"""


async def test_a_merge_request_of_gitlab_with_its_title(tmp_path: Path) -> None:
    for name in ("home", "bin"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin" / "glab").write_text(GLAB)
    (tmp_path / "bin" / "glab").chmod(0o755)
    project = with_pull_request(tmp_path, "refs/merge-requests/7/head")
    path = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    async with OpenAIServer([Turn(text="Here.")]) as model:
        server = Server(tmp_path / "home", project, model_config(model.base_url))
        async with running(server):
            done = await asyncio.to_thread(server.command, "pr", "7", environ=path)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith("Pull request 7: Mend the [2J door, on the branch ")
            told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[1:3])
            assert (Path(told["Worktree"]) / "theirs.txt").read_text() == "theirs.txt\n"


async def test_outside_of_git_it_is_said(tmp_path: Path) -> None:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    done = await asyncio.to_thread(Server(tmp_path / "home", tmp_path / "project").command, "pr", "7")
    assert (done.returncode, "not a git repository" in done.stderr) == (1, True)

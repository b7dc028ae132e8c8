"""The git panel as a page pulls it, and what its buttons do."""

from __future__ import annotations

import json
import os
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import AsyncClient

from agents.agent import trust
from agents.web.git import running
from sessions.core.db import in_db
from sessions.core.models import Operation
from sessions.core.store import projects
from tests.sessions.changes.git.conftest import git, top
from tests.sessions.talk import Talk

__all__ = ["top"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def talk(top: Path, tmp_path: Path, settings: Any) -> Talk:
    settings.MIDDLEWARE = []
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"
    settings.TRUST_FILE = str(tmp_path / "trust.json")
    return await Talk.begin(top)


async def shown(client: AsyncClient, talk: Talk, part: str = "", **query: str) -> str:
    answer = await client.get(f"/p/{talk.project.id}/git{part}", {"session": talk.session.id, **query})
    assert answer.status_code == 200
    return answer.content.decode()


async def done(client: AsyncClient, talk: Talk, view: str, status: int = 200, /, **fields: str) -> str:
    given = {"session": talk.session.id, **fields}
    answer = await client.post(f"/p/{talk.project.id}/git/{view}", given)
    assert answer.status_code == status, answer.content.decode()
    return answer.content.decode()


async def test_a_change_is_shown_staged_and_committed(
    async_client: AsyncClient, talk: Talk, top: Path
) -> None:
    (top / "<b>.txt").write_text("new\n")
    panel = await shown(async_client, talk)
    assert "main" in panel
    assert "&lt;b&gt;.txt" in panel
    assert "<b>" not in panel
    assert 'data-git-side="staged"' in await done(async_client, talk, "stage", path="<b>.txt")
    said = await done(async_client, talk, "commit", message="A message\r\n\r\nwith a body")
    assert "Nothing to commit" in said
    assert git(top, "log", "-1", "--format=%B").strip() == "A message\n\nwith a body"
    assert "nothing to commit" in await done(async_client, talk, "commit", 422, message="Again")


async def test_a_hunk_is_staged_from_its_diff(async_client: AsyncClient, talk: Talk, top: Path) -> None:
    lines = [f"{number}\n" for number in range(30)]
    lines[2], lines[25] = "two\n", "<i>\n"
    (top / "a.txt").write_text("".join(lines))
    diff = await shown(async_client, talk, "/diff", side="changed", path="a.txt")
    assert "&lt;i&gt;" in diff
    keys, seen = re.findall(r'data-key="(.+?)"', diff), re.findall(r'data-seen="(.+?)"', diff)[0]
    assert len(keys) == 2
    await done(async_client, talk, "stage", path="a.txt", side="changed", seen=seen, hunks=keys[1])
    assert "<i>" in git(top, "diff", "--cached")
    assert "two" not in git(top, "diff", "--cached")
    refused = await done(
        async_client, talk, "stage", 422, path="a.txt", side="changed", seen=seen, hunks=keys[0]
    )
    assert "has changed since" in refused


async def test_what_is_discarded_comes_back_from_the_log(
    async_client: AsyncClient, talk: Talk, top: Path
) -> None:
    (top / "a.txt").write_text("mine\n")
    (top / "new").write_text("mine too\n")
    for side, path in (("changed", "a.txt"), ("untracked", "new")):
        assert "Discarded" in await done(async_client, talk, "discard", side=side, path=path)
    assert git(top, "status", "--porcelain") == ""
    for operation in await in_db(lambda: list(Operation.objects.order_by("-id"))):
        url = f"/p/{talk.project.id}/log/operations/{operation.id}/invert"
        assert (await async_client.post(url)).status_code == 200
    assert (top / "a.txt").read_text() == "mine\n"
    assert (top / "new").read_text() == "mine too\n"


async def test_one_hunk_is_discarded(async_client: AsyncClient, talk: Talk, top: Path) -> None:
    lines = [f"{number}\n" for number in range(30)]
    lines[2], lines[25] = "two\n", "twenty-five\n"
    (top / "a.txt").write_text("".join(lines))
    diff = await shown(async_client, talk, "/diff", side="changed", path="a.txt")
    key, seen = re.findall(r'data-key="(.+?)"', diff)[0], re.findall(r'data-seen="(.+?)"', diff)[0]
    await done(async_client, talk, "discard", path="a.txt", side="changed", seen=seen, hunks=key)
    lines[2] = "2\n"
    assert (top / "a.txt").read_text() == "".join(lines)


async def test_hooks_run_once_they_are_trusted(async_client: AsyncClient, talk: Talk, top: Path) -> None:
    hook = top / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho '<b>never</b>'\nexit 1\n")
    hook.chmod(0o755)
    assert trust.wants(top) == []
    assert "hooks of this repository do not run: pre-commit" in await shown(async_client, talk)
    asked = trust.untrusted(top)
    assert [want.name for want in asked] == ["git hook pre-commit"]
    trust.trust(top, trust.fingerprint(asked))
    assert "do not run" not in await shown(async_client, talk)
    (top / "new").write_text("x")
    await done(async_client, talk, "stage", side="untracked")
    assert "&lt;b&gt;never&lt;/b&gt;" in await done(async_client, talk, "commit", 422, message="x")
    hook.write_text("#!/bin/sh\nexit 1 # another\n")
    assert "do not run" in await shown(async_client, talk)


async def test_a_folder_without_a_repository_says_so(
    async_client: AsyncClient, tmp_path: Path, settings: Any
) -> None:
    settings.MIDDLEWARE = []
    talk = await Talk.begin(tmp_path / "plain")
    assert "in no git repository" in await shown(async_client, talk)


async def test_a_deleted_branch_comes_back_by_its_note(
    async_client: AsyncClient, talk: Talk, top: Path
) -> None:
    await done(async_client, talk, "branch", act="create", name="topic")
    git(top, "commit", "-q", "--allow-empty", "-m", "<i>only there")
    await done(async_client, talk, "branch", act="switch", ref="refs/heads/main")
    lost = await shown(async_client, talk, "/branches", lost="refs/heads/topic")
    assert "1 commit on no other branch" in lost
    assert "&lt;i&gt;only there" in lost
    seen = re.findall(r'name="seen" value="(.+?)"', lost)[0]
    note = await done(async_client, talk, "branch", act="delete", ref="refs/heads/topic", seen=seen)
    assert "Deleted the branch topic." in note
    assert "topic" not in await shown(async_client, talk, "/branches")
    await undone_by(async_client, note)
    assert git(top, "rev-parse", "topic").strip() == seen
    assert "no such branch" in await done(async_client, talk, "branch", 422, act="switch", ref="-f")


async def test_commits_are_shown_with_their_diffs(async_client: AsyncClient, talk: Talk, top: Path) -> None:
    page = await shown(async_client, talk, "/log")
    commit = re.findall(r'data-commit="(.+?)"', page)[0]
    assert "a.txt" in await shown(async_client, talk, "/shown", commit=commit)
    diff = await shown(async_client, talk, "/diff", side=commit, path="a.txt")
    assert 'class="add"' in diff
    assert "data-git-part" not in diff
    assert "no commit" in await shown(async_client, talk, "/shown", commit="--all")


async def test_a_commit_is_reverted_picked_and_branched_from(
    async_client: AsyncClient, talk: Talk, top: Path
) -> None:
    (top / "b.txt").write_text("x")
    git(top, "add", ".")
    git(top, "commit", "-qm", "second")
    second = git(top, "rev-parse", "HEAD").strip()
    page = await shown(async_client, talk, "/shown", commit=second)
    assert 'data-git-begin="revert"' in page
    await done(async_client, talk, "ongoing", act="revert", commit=second)
    assert not (top / "b.txt").exists()
    await done(async_client, talk, "branch", act="create", name="back", at=f"{second}")
    git(top, "switch", "-q", "--detach", f"{second}~1")
    assert 'data-git-begin="pick"' in await shown(async_client, talk, "/shown", commit=second)
    await done(async_client, talk, "ongoing", act="pick", commit=second)
    assert (top / "b.txt").exists()
    assert "no commit" in await done(async_client, talk, "ongoing", 422, act="pick", commit="--abort")
    assert "no such act" in await done(async_client, talk, "ongoing", 422, act="reset")


async def test_changes_are_put_aside_and_dropped(async_client: AsyncClient, talk: Talk, top: Path) -> None:
    (top / "a.txt").write_text("mine\n")
    assert "Nothing to commit" in await done(async_client, talk, "stash", act="save", words="<b>later")
    page = await shown(async_client, talk, "/stashes")
    assert "&lt;b&gt;later" in page
    aside = re.findall(r'data-stash="(.+?)"', page)[0]
    note = await done(async_client, talk, "stash", act="drop", commit=aside, words="<b>later")
    assert aside not in await shown(async_client, talk, "/stashes")
    await undone_by(async_client, note)
    assert aside in await shown(async_client, talk, "/stashes")


@pytest.fixture
def merging(top: Path) -> Path:
    """Line 2 is another on both sides of a merge."""
    lines = [f"{number}\n" for number in range(30)]
    for branch, text in (("other", "<i>theirs\n"), ("main", "ours\n")):
        git(top, "switch", "-q", *(("-c",) if branch == "other" else ()), branch)
        (top / "a.txt").write_text("".join([*lines[:2], text, *lines[3:]]))
        git(top, "commit", "-qam", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(top, "merge", "-q", "other")
    return top


async def test_a_conflict_is_resolved_by_parts_and_reopened(
    async_client: AsyncClient, talk: Talk, merging: Path
) -> None:
    marked = (merging / "a.txt").read_text()
    assert "In the middle of a merge" in await shown(async_client, talk)
    page = await shown(async_client, talk, "/conflict", path="a.txt")
    assert "&lt;i&gt;theirs" in page
    seen = re.findall(r'name="seen" value="(.+?)"', page)[0]
    choice = {"path": "a.txt", "seen": seen, "take": "parts", "choice-0": "both"}
    said = await done(async_client, talk, "resolve", **choice)
    assert "No conflict is left" in said
    assert "ours\n<i>theirs\n" in (merging / "a.txt").read_text()
    values = json.loads(unescape(re.findall(r'hx-vals="(.+?)"', said)[0]))
    assert await done(async_client, talk, "resolve", **values) == ""
    assert (merging / "a.txt").read_text() == marked
    assert "1 file in conflict" in await shown(async_client, talk)
    assert "has changed since" not in await done(async_client, talk, "resolve", **choice)
    await done(async_client, talk, "ongoing", act="continue")
    assert git(merging, "rev-list", "--count", "--merges", "HEAD").strip() == "1"


async def test_aborting_says_which_files_go_back(
    async_client: AsyncClient, talk: Talk, merging: Path
) -> None:
    lost = await shown(async_client, talk, "/abort")
    assert "1 file becomes as it was" in " ".join(lost.split())
    assert "a.txt" in lost
    assert "Nothing to commit" in await done(async_client, talk, "ongoing", act="abort")
    assert "a merge that was aborted" in await shown(async_client, talk, "/stashes")
    assert "over already" in await done(async_client, talk, "ongoing", 422, act="abort")
    assert "over already" in await shown(async_client, talk, "/abort")


async def test_a_worktree_is_made_merged_back_and_removed(
    async_client: AsyncClient, talk: Talk, top: Path, tmp_path: Path, settings: Any
) -> None:
    settings.WORKTREE_DIR = str(tmp_path / "worktrees")
    await done(async_client, talk, "worktree", act="make", name="topic/<b>")
    page = await shown(async_client, talk, "/worktrees")
    assert "topic/&lt;b&gt;" in page
    folder = unquote(re.findall(r'data-folder="(.+?)"', page)[1])
    assert await in_db(lambda: projects.known_at(folder))
    (Path(folder) / "new").write_text("x")
    git(Path(folder), "add", ".")
    git(Path(folder), "commit", "-qm", "<i>new")
    (Path(folder) / "dirty").write_text("x")
    asked = await shown(async_client, talk, "/merge", **{"from": folder})
    assert "&lt;i&gt;new" in asked
    assert "1 file in its worktree" in asked
    values = dict(re.findall(r'name="(ref|seen|at)" value="(.*?)"', asked))
    await done(async_client, talk, "merged", **{name: unescape(value) for name, value in values.items()})
    assert (top / "new").exists()
    back = await shown(async_client, talk, "/merge", into=folder)
    assert "Nothing to merge" in back
    lost = await shown(async_client, talk, "/worktrees", lost=folder)
    assert "dirty" in lost
    seen = re.findall(r'name="seen" value="(.+?)"', lost)[0]
    await done(async_client, talk, "worktree", act="remove", folder=folder, seen=seen)
    assert not Path(folder).exists()
    assert "no such worktree" in await shown(async_client, talk, "/worktrees", lost=folder)


async def test_a_deleted_tag_comes_back_by_its_note(async_client: AsyncClient, talk: Talk, top: Path) -> None:
    await done(async_client, talk, "tag", act="make", name="v1", words="<i>first")
    page = await shown(async_client, talk, "/tags")
    assert "&lt;i&gt;first" in page
    seen = re.findall(r'data-seen="(.+?)"', page)[0]
    note = await done(async_client, talk, "tag", act="delete", ref="refs/tags/v1", seen=seen)
    assert "There is no tag" in await shown(async_client, talk, "/tags")
    await undone_by(async_client, note)
    assert git(top, "rev-parse", "v1").strip() == seen


async def test_what_was_deleted_comes_back_from_the_log_once(
    async_client: AsyncClient, talk: Talk, top: Path
) -> None:
    await done(async_client, talk, "tag", act="make", name="<i>v1")
    seen = git(top, "rev-parse", "<i>v1").strip()
    note = await done(async_client, talk, "tag", act="delete", ref="refs/tags/<i>v1", seen=seen)
    log = f"/p/{talk.project.id}/log"
    page = (await async_client.get(log)).content.decode()
    assert "Deleted the tag &lt;i&gt;v1" in page
    asked = await async_client.get(note_url(note))
    assert "The tag &lt;i&gt;v1 comes back" in asked.content.decode()
    await undone_by(async_client, note)
    assert "Brought back the tag" in (await async_client.get(log)).content.decode()
    again = (await async_client.post(note_url(note))).content.decode()
    assert "taken back already" in again
    back = await in_db(lambda: Operation.objects.order_by("-id")[0])
    git(top, "tag", "--force", "<i>v1", git(top, "commit-tree", "-m", "x", "HEAD^{tree}").strip())
    refused = await async_client.post(f"{log}/operations/{back.id}/invert")
    assert "it is another" in refused.content.decode()


def note_url(note: str) -> str:
    return str(re.findall(r'hx-post="(/p/[^"]+/invert)"', note)[0])


async def undone_by(client: AsyncClient, note: str) -> None:
    """By the note that says what was done."""
    answer = await client.post(note_url(note))
    assert answer.status_code == 200, answer.content


async def test_a_tag_is_pushed_and_deleted_at_the_remote(
    async_client: AsyncClient, talk: Talk, top: Path, tmp_path: Path
) -> None:
    await done(async_client, talk, "tag", act="make", name="v1")
    assert "Push" not in await shown(async_client, talk, "/tags")
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "far.git"))
    git(top, "remote", "add", "origin", str(tmp_path / "far.git"))
    assert "Push all to origin" in await shown(async_client, talk, "/tags")
    given = {"session": talk.session.id, "ref": "refs/tags/v1", "seen": git(top, "rev-parse", "v1").strip()}
    url = f"/p/{talk.project.id}/git/remote"
    assert "new tag" in (await told(await async_client.post(url, {**given, "act": "push-tags"})))[-1]["html"]
    assert "Who fetches from origin" in await shown(async_client, talk, "/tags", lost="refs/tags/v1")
    assert "no such tag" in await shown(async_client, talk, "/tags", lost="refs/tags/v2")
    assert "deleted" in (await told(await async_client.post(url, {**given, "act": "delete"})))[-1]["html"]
    assert git(tmp_path / "far.git", "tag") == ""
    late = {**given, "act": "push-tags", "seen": "0" * 40}
    assert "or it is another" in (await told(await async_client.post(url, late)))[-1]["html"]


async def test_submodules_are_shown(async_client: AsyncClient, talk: Talk, top: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "first")
    assert "Submodules" not in await shown(async_client, talk)
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(top / "sub", "commit", "-q", "--allow-empty", "-m", "second")
    assert "Submodules" in await shown(async_client, talk)
    assert "at another commit" in await shown(async_client, talk, "/submodules")
    await done(async_client, talk, "submodule", path="sub")
    assert "as recorded" in await shown(async_client, talk, "/submodules")


async def test_lines_are_told_with_their_commits(async_client: AsyncClient, talk: Talk, top: Path) -> None:
    told = json.loads(await shown(async_client, talk, "/blame", file="a.txt"))
    assert [commit["subject"] for commit in told["commits"]] == ["first"]
    assert told["lines"] == [0] * 30
    for file in ("../a.txt", "/etc/passwd", "none", "--help"):
        assert "problem" in json.loads(await shown(async_client, talk, "/blame", file=file))
    assert "that changed a.txt" in await shown(async_client, talk, "/log", file="a.txt")


async def test_the_log_has_lanes(async_client: AsyncClient, talk: Talk, top: Path) -> None:
    git(top, "switch", "-qc", "other")
    git(top, "commit", "-q", "--allow-empty", "-m", "theirs")
    git(top, "switch", "-q", "main")
    git(top, "commit", "-q", "--allow-empty", "-m", "mine")
    assert "theirs" not in await shown(async_client, talk, "/log")
    page = await shown(async_client, talk, "/log", every="1")
    assert "theirs" in page
    assert page.count("<svg") == 3
    assert "<svg" not in await shown(async_client, talk, "/log", path="a.txt")


async def test_a_push_tells_its_words_and_its_end(
    async_client: AsyncClient, talk: Talk, top: Path, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "far.git"))
    git(top, "remote", "add", "origin", str(tmp_path / "far.git"))
    given = {"session": talk.session.id, "act": "push"}
    url = f"/p/{talk.project.id}/git/remote"
    lines = await told(await async_client.post(url, given))
    assert "new branch" in lines[-1]["html"]
    assert "failed" not in lines[-1]
    assert "no such act" in await done(async_client, talk, "remote", 422, act="clone")
    assert "Nothing runs" in await done(async_client, talk, "stop", 422)
    git(top, "remote", "set-url", "origin", str(tmp_path / "none.git"))
    assert (await told(await async_client.post(url, given)))[-1]["failed"]


async def test_what_runs_with_a_remote_ends_with_the_server(
    async_client: AsyncClient, talk: Talk, top: Path, tmp_path: Path
) -> None:
    far = tmp_path / "far.git"
    git(tmp_path, "init", "-q", "--bare", str(far))
    git(top, "remote", "add", "origin", str(far))
    os.mkfifo(tmp_path / "fifo")
    (far / "hooks" / "pre-receive").write_text(f"#!/bin/sh\nread line < {tmp_path}/fifo\n")
    (far / "hooks" / "pre-receive").chmod(0o755)
    given = {"session": talk.session.id, "act": "push"}
    answer = await async_client.post(f"/p/{talk.project.id}/git/remote", given)
    assert "git push is running here" in await done(async_client, talk, "remote", 422, act="fetch")
    assert "data-git-stop" in await shown(async_client, talk)
    running.stop_all()
    last = (await told(answer))[-1]
    assert last["failed"]
    assert "Stopped." in last["html"]
    assert git(far, "for-each-ref") == ""


async def told(answer: Any) -> list[dict[str, Any]]:
    return [json.loads(line) async for line in answer.streaming_content]


@pytest.mark.long
async def test_a_repository_of_fifty_thousand_files_is_shown_and_staged(
    async_client: AsyncClient, talk: Talk, top: Path
) -> None:
    entries = "".join(
        f"M 644 inline {number // 500}/{number}.txt\ndata 2\n{number % 10}\n\n" for number in range(50_000)
    )
    head = "commit refs/heads/large\ncommitter t <t@localhost> 0 +0000\ndata 5\nlarge\n"
    git(top, "fast-import", "--quiet", stdin=f"{head}{entries}\n".encode())
    git(top, "switch", "-q", "large")
    for number in range(2_000):
        (top / f"{number // 500}" / f"{number}.txt").write_text("another\n")
    (top / "new").write_text("x")
    page = await shown(async_client, talk)
    assert re.search(r"Changed <span\s+class=\"soft\">2000</span>", page)
    assert "and 1700 more" in page
    assert "Staged" in await done(async_client, talk, "stage", side="untracked")
    await done(async_client, talk, "stage", side="changed")
    assert len(git(top, "diff", "--cached", "--name-only").splitlines()) == 2_001
    assert "Nothing to commit" in await done(async_client, talk, "commit", message="All of it")
    assert (await shown(async_client, talk, "/log", every="1")).count("<svg") == 3

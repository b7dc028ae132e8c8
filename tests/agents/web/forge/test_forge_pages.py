"""The panel of the forge as a page pulls it, and what its buttons do."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio
from django.test import AsyncClient

from agents.forge.hosts import ForgeKind
from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt, Session
from tests.agents.forge.conftest import fill, nobody_is_signed_in
from tests.loopback.forges import TOKEN, ForgeServer, Pull, Said
from tests.sessions.changes.git.conftest import git, top
from tests.sessions.talk import Talk

__all__ = ["nobody_is_signed_in", "top"]

pytestmark = pytest.mark.django_db(transaction=True)


REFS = {"github": "refs/pull/3/head", "gitlab": "refs/merge-requests/3/head", "forgejo": "refs/pull/3/head"}
"""Where each has the last commit of pull request 3."""


@pytest_asyncio.fixture(params=list(REFS))
async def forge(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ForgeServer]:
    async with ForgeServer(cast(ForgeKind, request.param)) as server:
        fill(server)
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
async def talk(top: Path, tmp_path: Path, settings: Any, forge: ForgeServer) -> Talk:
    """A repository at the forge, whose branches and pull requests are in a bare one beside it."""
    settings.MIDDLEWARE = []
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"
    settings.WORKTREE_DIR = tmp_path / "worktrees"
    settings.TRUST_FILE = str(tmp_path / "trust.json")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(tmp_path / "far.git"))
    git(top, "remote", "add", "origin", forge.remote)
    git(top, "config", f"url.{tmp_path / 'far.git'}.insteadOf", forge.remote)
    git(top, "push", "-q", "origin", "main")
    git(top, "switch", "-qc", "theirs")
    (top / "theirs.txt").write_text("theirs\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "theirs")
    git(top, "push", "-q", "origin", f"HEAD:{REFS[forge.kind]}")
    git(top, "switch", "-q", "main")
    return await Talk.begin(top)


async def shown(client: AsyncClient, talk: Talk, part: str = "", status: int = 200, /, **query: str) -> str:
    answer = await client.get(f"/p/{talk.project.id}/forge{part}", {"session": talk.session.id, **query})
    assert answer.status_code == status, answer.content.decode()
    return answer.content.decode()


async def done(client: AsyncClient, talk: Talk, view: str, status: int = 200, /, **fields: str) -> Any:
    given = {"session": talk.session.id, **fields}
    answer = await client.post(f"/p/{talk.project.id}/forge/{view}", given)
    assert answer.status_code == status, answer.content.decode()
    return answer


def seen(page: str) -> str:
    found: list[str] = re.findall(r'name="seen"\s+value="(.+?)"', page)
    return found[-1]


async def test_lists_and_items_are_shown_and_nothing_of_them_acts(
    async_client: AsyncClient, talk: Talk, forge: ForgeServer
) -> None:
    forge.issues[1].title = "<i>odd</i>\x07"
    panel = await shown(async_client, talk)
    assert "acme/widget" in panel
    assert "Without a token" not in panel
    rows = await shown(async_client, talk, "/list", kind="issue")
    assert "&lt;i&gt;odd&lt;/i&gt;" in rows
    assert "\x07" not in rows
    item = await shown(async_client, talk, "/item", kind="issue", number="1")
    assert "<b>" not in item
    assert "&lt;b&gt;fails" in item
    assert "Obey me" not in item
    assert "<code>x</code>" in item
    assert "Here, too" in item
    pull = await shown(async_client, talk, "/item", kind="pull", number="3")
    assert "Put failed checks" in pull
    assert "Put review comments" in pull
    assert ("outside/ci" in pull) == (forge.kind == "github")  # whose checks are of two kinds
    assert "src/x.py:12" in pull
    found = await shown(async_client, talk, "/list", kind="pull", q="#3")
    assert "Mend it" in found
    assert "Nothing has these" in await shown(async_client, talk, "/list", kind="issue", q="nowhere")
    assert "no such thing" in await shown(async_client, talk, "/item", 422, kind="issue", number="99")
    assert (await async_client.get(f"/p/{talk.project.id}/forge/item?kind=issue&number=x")).status_code == 404


async def test_a_session_begins_with_what_was_seen_of_an_issue(
    async_client: AsyncClient, talk: Talk, forge: ForgeServer
) -> None:
    page = await shown(async_client, talk, "/item", kind="issue", number="1")
    wanted = {"kind": "issue", "number": "1", "words": "Mend this.", "seen": seen(page)}
    forge.issues[1].comments.append(Said(9, "mallory", "Do something else"))
    refused = await done(async_client, talk, "start", 422, **wanted)
    assert "changed since" in refused.content.decode()
    forge.issues[1].comments.pop()
    answer = await done(async_client, talk, "start", **wanted)
    session = await in_db(lambda: Session.objects.exclude(id=talk.session.id).get())
    assert answer["HX-Redirect"] == session.get_absolute_url()
    assert session.title == "Issue 1: It fails"
    prompt = await in_db(lambda: AdmittedPrompt.objects.get(session=session))
    text = prompt.parts[0]["text"]
    assert text.startswith("Mend this.\n\nIssue 1 of acme/widget, ")
    assert "> Here, too" in text
    assert "Obey" not in text


async def test_a_session_for_a_pull_request_has_a_worktree_with_its_files(
    async_client: AsyncClient, talk: Talk, forge: ForgeServer, top: Path
) -> None:
    page = await shown(async_client, talk, "/item", kind="pull", number="3")
    await done(async_client, talk, "start", kind="pull", number="3", words="Review it.", seen=seen(page))
    rows = Session.objects.select_related("project")
    session = await in_db(lambda: rows.get(title="Pull request 3: Mend it"))
    folder = Path(session.directory)
    assert folder != top
    assert (folder / "theirs.txt").read_text() == "theirs\n"
    assert not (top / "theirs.txt").exists()
    branch = git(folder, "branch", "--show-current").strip()
    assert git(folder, "config", f"branch.{branch}.merge").strip() == REFS[forge.kind]
    assert git(folder, "status", "--porcelain") == ""
    there = await async_client.get(f"/p/{session.project_id}/forge/branch", {"session": session.id})
    assert "Mend it" in there.content.decode(), "which the worktree was made of"


async def test_a_pull_request_is_opened_of_a_branch_that_is_pushed_first(
    async_client: AsyncClient, talk: Talk, forge: ForgeServer, top: Path, tmp_path: Path
) -> None:
    assert "others are merged into" in await shown(async_client, talk, "/branch")
    git(top, "switch", "-qc", "my-feature")
    (top / ".github").mkdir()
    (top / ".github" / "PULL_REQUEST_TEMPLATE.md").write_text("## Why\n</textarea><b>\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "Add a template")
    form = await shown(async_client, talk, "/branch")
    assert 'value="Add a template"' in form
    assert "## Why\n&lt;/textarea&gt;&lt;b&gt;" in form
    assert "It is pushed first" in form
    assert "has 1 commit that" in " ".join(re.sub(r"<[^>]+>", " ", form).split())
    given = {"title": "Add a\n template", "body": "Because.\r\nSo.", "base": "main"}
    forge.refusal = (422, "Validation Failed")
    refused = await done(async_client, talk, "open", 422, **given)
    assert "Validation Failed" in refused.content.decode()
    assert "my-feature" in git(tmp_path / "far.git", "branch")
    made = (await done(async_client, talk, "open", **given, draft="1")).content.decode()
    assert "Opened" in made
    pull = max(forge.pulls.values(), key=lambda one: one.number)
    marked = {"github": "", "gitlab": "Draft: ", "forgejo": "WIP: "}[forge.kind]
    assert (pull.title, pull.body) == (f"{marked}Add a template", "Because.\nSo.")
    assert (pull.head, pull.draft) == ("my-feature", True)
    assert "Add a template" in await shown(async_client, talk, "/branch")
    pull.merged = True
    assert "The last pull request" in await shown(async_client, talk, "/branch")
    itself = await done(async_client, talk, "open", 422, **{**given, "base": "my-feature"})
    assert "branch itself" in itself.content.decode()


async def test_failed_checks_and_reviews_become_texts_for_the_prompt(
    async_client: AsyncClient, talk: Talk, forge: ForgeServer
) -> None:
    checks = await shown(async_client, talk, "/told", what="checks", number="3")
    assert "> tests" in checks
    assert (">     AssertionError" in checks) == (forge.kind != "forgejo")  # which gives no logs
    assert "lint" not in checks
    comments = await shown(async_client, talk, "/told", what="comments", number="3")
    assert "> eve on src/x.py, line 12:" in comments
    forge.add(Pull(4, "Fine", head="fine", commit="a" * 40))
    assert "No check has failed" in await shown(async_client, talk, "/told", 422, what="checks", number="4")
    assert "No review" in await shown(async_client, talk, "/told", 422, what="comments", number="4")


async def test_an_answer_goes_to_its_thread(
    async_client: AsyncClient, talk: Talk, forge: ForgeServer
) -> None:
    page = await shown(async_client, talk, "/item", kind="pull", number="3")
    thread = {"github": "5", "gitlab": "d5", "forgejo": ""}[forge.kind]
    assert f'name="thread" value="{thread}"' in page
    said = await done(async_client, talk, "answer", kind="pull", number="3", thread=thread, text="Because")
    assert "Because" in said.content.decode()
    places = {
        "github": "/pulls/3/comments/5/replies",
        "gitlab": "/merge_requests/3/discussions/d5/notes",
        "forgejo": "/issues/3/comments",
    }
    assert forge.acts[-1].path.endswith(places[forge.kind])
    await done(async_client, talk, "answer", 422, kind="pull", number="3", text=" ")
    assert len(forge.acts) == 1


async def test_a_merge_is_asked_about_and_takes_what_was_seen(
    async_client: AsyncClient, talk: Talk, forge: ForgeServer
) -> None:
    asked = await shown(async_client, talk, "/merge", number="3")
    assert "1 check failed" in unescape(asked)
    assert 'value="squash"' in asked
    assert ('value="rebase"' in asked) == (forge.kind == "forgejo")
    wanted = {"number": "3", "seen": seen(asked), "method": "squash"}
    forge.pulls[3].commit = "0" * 40
    refused = await done(async_client, talk, "merge", 422, **wanted)
    assert "other commits" in refused.content.decode()
    assert not forge.acts
    wanted["seen"] = "0" * 40
    assert "Merged 3" in (await done(async_client, talk, "merge", **wanted)).content.decode()
    assert forge.pulls[3].merged
    await done(async_client, talk, "merge", 422, **{**wanted, "method": "force"})


async def test_where_there_is_no_forge_it_is_said(
    async_client: AsyncClient, talk: Talk, top: Path, tmp_path: Path
) -> None:
    git(top, "remote", "remove", "origin")
    assert "no remote at a forge" in await shown(async_client, talk)
    plain = await Talk.begin(tmp_path / "plain")
    assert "in no git repository" in await shown(async_client, plain)


async def test_forges_are_added_tried_and_removed(
    async_client: AsyncClient, talk: Talk, forge: ForgeServer, nobody_is_signed_in: Path
) -> None:
    listed = (await async_client.get("/accounts/forges")).content.decode()
    assert f"{forge.kind.upper()}_TOKEN" in listed
    assert TOKEN not in listed
    given = {"kind": forge.kind, "address": forge.url, "token": "wrong"}
    refused = await async_client.post("/accounts/forges/keep", given)
    assert refused.status_code == 422
    assert "does not accept the token" in refused.content.decode()
    assert not (nobody_is_signed_in / "forges.json").exists()
    kept = await async_client.post("/accounts/forges/keep", {**given, "token": TOKEN})
    assert "it is me’s" in kept.content.decode()
    assert f"ends in <code>{TOKEN[-4:]}" in kept.content.decode()
    name = forge.url.removeprefix("http://")
    assert "is me’s" in (await async_client.post("/accounts/forges/test", {"name": name})).content.decode()
    forge.limited = True
    limited = await async_client.post("/accounts/forges/test", {"name": name})
    assert "no more requests" in limited.content.decode()
    anyway = await async_client.post("/accounts/forges/keep", {**given, "token": "other", "anyway": "1"})
    assert "the token is kept" in anyway.content.decode()
    await async_client.post("/accounts/forges/forget", {"name": name})
    assert "{}" in (nobody_is_signed_in / "forges.json").read_text()
    assert (await async_client.post("/accounts/forges/test", {"name": "nowhere"})).status_code == 404

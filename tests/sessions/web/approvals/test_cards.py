"""Questions of the agent: shown exactly, answered once, from whichever tab comes first."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.store import permissions
from sessions.core.store import sessions as session_store
from sessions.web.approvals.inbox import inbox
from tests.sessions.changes.review.world import World
from tests.sessions.web.approvals.asking import again, ask, ask_edit, shown

LONG = "x" + " " * 3000 + "evil-1" + "y" * 40_000 + "evil-2"


async def test_of_two_replies_one_wins(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row = await ask(session)
    url = f"/permissions/{row.id}/reply"
    answers = await asyncio.gather(
        async_client.post(url, {"hash": "seen", "answer": "once"}),
        async_client.post(url, {"hash": "seen", "answer": "reject"}),
    )
    assert sorted(answer.status_code for answer in answers) == [200, 422]
    lost = next(answer for answer in answers if answer.status_code == 422)
    assert "answered already" in lost.content.decode()
    assert lost["HX-Reswap"] == "none", "its card is gone"
    assert row.id not in await shown(session)


async def test_a_reply_after_the_turn_was_stopped(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row = await ask(session)
    await in_db(permissions.cancel, session.id)
    answer = await async_client.post(f"/permissions/{row.id}/reply", {"hash": "seen", "answer": "always"})
    assert answer.status_code == 422
    assert "no longer waits" in answer.content.decode()
    assert await in_db(permissions.rules, session.project_id) == []


async def test_always_saves_the_rule_that_is_shown(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row = await ask(session)
    page = await shown(session)
    assert '<span class="mono">bash:</span>' in page
    assert 'name="pattern" value="git log *"' in page
    await async_client.post(f"/permissions/{row.id}/reply", {"hash": "seen", "answer": "always"})
    rules = await in_db(permissions.rules, session.project_id)
    assert [(rule.permission, rule.pattern, rule.action) for rule in rules] == [
        ("bash", "git log *", "allow")
    ]
    exact = await ask(session, always=())
    assert "Allow…" not in await shown(session)
    answer = await async_client.post(f"/permissions/{exact.id}/reply", {"hash": "seen", "answer": "always"})
    assert answer.status_code == 422


async def test_words_go_with_a_rejection_only(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    rejected, allowed = await ask(session), await ask(session)
    for row, answer in ((allowed, "once"), (rejected, "reject")):
        form = {"hash": "seen", "answer": answer, "words": " use jj "}
        await async_client.post(f"/permissions/{row.id}/reply", form)
    assert (await again(rejected)).words == "use jj"
    assert (await again(allowed)).words == ""


async def test_unknown_requests_and_answers(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row = await ask(session)
    assert (
        await async_client.post("/permissions/per_none/reply", {"hash": "seen", "answer": "once"})
    ).status_code == 404
    assert (
        await async_client.post(f"/permissions/{row.id}/reply", {"hash": "seen", "answer": "yes"})
    ).status_code == 422
    assert (await async_client.get(f"/permissions/{row.id}/reply")).status_code == 405
    await in_db(session_store.delete, session.id)
    assert (
        await async_client.post(f"/permissions/{row.id}/reply", {"hash": "seen", "answer": "once"})
    ).status_code == 404
    assert (await again(row)).state == "pending"


async def test_descendants_ask_on_the_parents_page(world: World) -> None:
    parent = await world.session("parent")
    child = await in_db(session_store.create, world.project, str(world.root), title="<b>", parent=parent.id)
    below = await in_db(session_store.create, world.project, str(world.root), title="deep", parent=child.id)
    row = await ask(below, command="ls")
    page = await shown(parent)
    assert row.id in page
    assert "asked by deep, sent by &lt;b&gt;" in page
    assert row.id not in await shown(await world.session("stranger"))


@pytest.mark.parametrize(
    ("permission", "metadata", "wanted"),
    [
        ("bash", {"command": "rm x\x1b[2K\r\u202e# safe"}, "rm x␛[2K␍\\u202e# safe"),
        (
            "edit",
            {"filepath": "a.py", "diff": "--- a\n+++ b\n@@ -1,2 +1,2 @@\n import a\n-x = 1\n+x = 22\n"},
            '<td class="num new" data-n="2">',
        ),
        (
            "edit",
            {"filepath": "a.py", "filediff": {"before": "x = 1\n", "after": "x = 2\n"}, "diff": "ignored"},
            '<mark><span class="mi">2</span></mark>',
        ),
        ("read", {"filepath": "/etc/<i>passwd"}, "/etc/&lt;i&gt;passwd"),
        ("external_directory", {"filepath": "/srv/x"}, "Leave the project’s folder?"),
        (
            "doom_loop",
            {"tool": "grep", "input": {"pattern": "<x>"}},
            "&quot;pattern&quot;: &quot;&lt;x&gt;&quot;",
        ),
        (
            "limit",
            {"limit": "2 calls of <i> in one turn", "further": "2 more", "agents": ["build", "<b>"]},
            "@build → @&lt;b&gt;",
        ),
        (
            "limit",
            {"limit": "2 calls of <i> in one turn"},
            "The limit here: 2 calls of &lt;i&gt; in one turn",
        ),
        (
            "edit",
            {
                "filepath": "a.py, b.py",
                "files": [
                    {"relativePath": "<i>a.py", "type": "add", "diff": "@@ -0,0 +1 @@\n+x = 1\n"},
                    {"relativePath": "b.py", "type": "move", "movePath": "<i>c.py", "diff": ""},
                ],
            },
            '<span class="label">moved from &lt;i&gt;c.py</span>',
        ),
        ("edit", {"files": [{"diff": 1}, {"type": []}, "x"]}, "Change these files?"),
        (
            "private_address",
            {"url": "http://router/<i>", "host": "router", "address": "192.168.0.1"},
            '<dd class="mono">192.168.0.1</dd>',
        ),
        ("webfetch", {"url": "https://a.example/<i>"}, "https://a.example/&lt;i&gt;"),
        ("skill", {"name": "tidy"}, "Load this skill?"),
        ("mcp_<u>", {"anything": "</pre>"}, "Use mcp_&lt;u&gt;?"),
    ],
)
async def test_each_kind_says_what_exactly(
    world: World, permission: str, metadata: dict[str, Any], wanted: str
) -> None:
    session = await world.session()
    await ask(session, permission, **metadata)
    page = await shown(session)
    assert wanted in page
    assert "\u202e" not in page
    assert 'role="alertdialog"' in page


async def test_a_question_of_a_deleted_session_takes_no_answer(world: World) -> None:
    """Also while its turn has not heard of the deletion: nothing is allowed, no rule is saved."""
    session = await world.session()
    row = await ask(session)
    await in_db(session_store.delete, session.id)
    assert await in_db(permissions.reply, row.id, "always") is None
    assert await in_db(permissions.rules, session.project_id) == []


@pytest.mark.parametrize(
    ("permission", "patterns", "metadata"),
    [
        ("bash", ("x",), {"command": LONG}),
        ("tool_of_server", ("*",), {"server": "s", "tool": "t", "input": {"text": LONG}}),
        ("mcp_sampling", ("s",), {"model": "m", "prompt": LONG}),
        ("task", ("general",), {"prompt": LONG}),
        ("webfetch", (LONG,), {"url": LONG}),
        ("somebodys_tool", ("*",), {"given": LONG}),
        ("doom_loop", ("x",), {"tool": "t", "input": {"text": LONG}}),
    ],
)
async def test_what_is_asked_is_shown_whole(
    world: World, async_client: AsyncClient, permission: str, patterns: tuple[str, ...], metadata: Any
) -> None:
    """A long line with its harm behind a thousand blanks, and after what is shown at once."""
    session = await world.session()
    row = await ask(session, permission, patterns=patterns, **metadata)
    card = await shown(session)
    assert "evil-1" in card
    assert "evil-2" not in card
    assert re.search(r'class="button primary once"[^>]* disabled', card)
    rest = await async_client.get(f"/permissions/{row.id}/rest")
    assert "evil-2" in rest.content.decode()


async def test_what_fits_can_be_allowed_at_once(world: World) -> None:
    session = await world.session()
    await ask(session, command="echo " + "x" * 30_000 + "; evil")
    card = await shown(session)
    assert "; evil" in card
    assert not re.search(r'class="button primary once"[^>]* disabled', card)


async def test_lines_and_rows_of_a_change_are_shown_whole(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    await ask_edit(session, "", "x" * 9000 + "evil-1\n")
    assert "evil-1" in await shown(session)
    row = await ask_edit(session, "", "line\n" * 2500 + "evil-2\n")
    card = await shown(session)
    assert "evil-2" not in card
    assert "501 lines are not shown" in card
    asked = re.search(rf"/permissions/{row.id}/file\?file=0&amp;rows=(\d+)", card)
    assert asked
    whole = await async_client.get(f"/permissions/{row.id}/file?file=0&rows={asked[1]}")
    assert "evil-2" in whole.content.decode()
    assert "data-folded" not in whole.content.decode()


async def test_the_list_allows_only_what_its_line_says(world: World) -> None:
    session = await world.session()
    await ask(session, command="git log -1")
    await ask(session, command="git log -1\nevil")
    await ask(session, command="git log" + " " * 300 + "evil")
    await ask_edit(session, "a\n", "b\n")
    entries = [entry for group in (await in_db(inbox)).groups for entry in group.entries]
    assert [entry.whole for entry in entries] == [True, False, False, False]

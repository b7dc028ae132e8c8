"""Edit, then approve: what is allowed in place of a proposal, and answers that are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.models import PermissionRequest
from sessions.core.store import permissions
from tests.sessions.changes.review.world import World
from tests.sessions.web.approvals.asking import again, ask, ask_edit, shown

BEFORE = "".join(f"{number}\n" for number in range(1, 31))
AFTER = BEFORE.replace("3\n", "three\n", 1).replace("15\n", "fifteen\n").replace("28\n", "x\n")


async def keys(page: str) -> list[str]:
    """The hunks that have a box, as the form sends them."""
    return re.findall(r'name="hunk" value="([^"]+)"', page)


async def reply(client: AsyncClient, row: PermissionRequest, **form: Any) -> tuple[int, str]:
    answer = await client.post(f"/permissions/{row.id}/reply", {"answer": "once", "hash": "seen", **form})
    return answer.status_code, answer.content.decode()


async def test_hunks_that_are_left_out_are_taken_from_before(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row = await ask_edit(session, BEFORE, AFTER)
    first, _, third = await keys(await shown(session))
    assert await reply(async_client, row, offered=["0", "0", "0"], hunk=[first, third]) == (200, "")
    wanted = BEFORE.replace("3\n", "three\n", 1).replace("28\n", "x\n")
    assert (await again(row)).replacement == {f"{world.root}/a.txt": wanted}


async def test_all_hunks_are_the_proposal_and_none_is_no_answer(
    world: World, async_client: AsyncClient
) -> None:
    session = await world.session()
    row = await ask_edit(session, BEFORE, AFTER)
    offered = await keys(await shown(session))
    status, text = await reply(async_client, row, offered="0", hunk=["0:made up"])
    assert (status, "leave everything as it is" in text) == (422, True)
    assert (await again(row)).state == "pending"
    assert await reply(async_client, row, offered="0", hunk=offered) == (200, "")
    assert (await again(row)).replacement == {}


async def test_a_single_hunk_has_no_box(world: World) -> None:
    session = await world.session()
    await ask_edit(session, "one\n", "two\n")
    assert await keys(await shown(session)) == []


async def test_of_several_files_one_may_be_left_out(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    files = [
        {
            "filepath": f"/p/{name}",
            "relativePath": name,
            "type": kind,
            "before": before,
            "after": after,
            "diff": "",
        }
        for name, kind, before, after in (("a", "update", "1\n", "2\n"), ("new", "add", "", "x\n"))
    ]
    row = await ask(session, "edit", ("*",), ("a", "new"), files=files)
    change, _ = await keys(await shown(session))
    assert await reply(async_client, row, offered=["0", "1"], hunk=[change]) == (200, "")
    assert (await again(row)).replacement == {"/p/new": None}


async def test_typed_text_keeps_the_line_ends_of_the_file(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row = await ask_edit(session, "a\r\nb\r\n", "a\r\nc\r\n")
    editor = await async_client.post(f"/permissions/{row.id}/edit", {"file": "0"})
    assert "\na\nc\n</textarea>" in editor.content.decode()
    diff = await async_client.post(f"/permissions/{row.id}/preview", {"file": "0", "content0": "a\nd\n"})
    assert diff.content.decode().count('<tr class="add">') == 1
    assert await reply(async_client, row, content0="a\r\nd\r\n") == (200, "")
    assert (await again(row)).replacement == {f"{world.root}/a.txt": "a\r\nd\r\n"}


async def test_the_editor_begins_with_the_hunks_that_are_chosen(
    world: World, async_client: AsyncClient
) -> None:
    session = await world.session()
    row = await ask_edit(session, BEFORE, AFTER)
    _, second, _ = await keys(await shown(session))
    form = {"file": "0", "offered": "0", "hunk": second}
    text = (await async_client.post(f"/permissions/{row.id}/edit", form)).content.decode()
    assert "\nfifteen\n" in text
    assert "\nthree\n" not in text


@pytest.mark.parametrize("after", ["a\rb\n", "x\0y\n", "a" * 300_000 + "\n"])
async def test_what_no_field_gives_back_whole_cannot_be_edited(
    world: World, async_client: AsyncClient, after: str
) -> None:
    session = await world.session()
    row = await ask_edit(session, "a\n", after)
    assert "edit-proposal" not in await shown(session)
    assert (await async_client.post(f"/permissions/{row.id}/edit", {"file": "0"})).status_code == 404
    assert await reply(async_client, row, content0="typed all the same\n") == (200, "")
    assert (await again(row)).replacement == {}


async def test_large_contents_are_read_where_they_are_kept(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    objects = world.tracker.objects
    apart = {"beforeObject": objects.put(BEFORE.encode()), "afterObject": objects.put(AFTER.encode())}
    row = await ask(
        session, "edit", ("*",), ("a.txt",), filepath="/p/a.txt", filediff={"file": "a.txt", **apart}, diff=""
    )
    assert f'hx-get="/permissions/{row.id}/file?file=0" hx-trigger="load"' in await shown(session)
    file = await async_client.get(f"/permissions/{row.id}/file?file=0")
    _, second, _ = await keys(file.content.decode())
    assert await reply(async_client, row, offered="0", hunk=[second]) == (200, "")
    assert (await again(row)).replacement == {"/p/a.txt": BEFORE.replace("15\n", "fifteen\n")}
    assert (await async_client.get(f"/permissions/{row.id}/file?file=7")).status_code == 404


async def test_a_stale_answer_is_refused(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row = await ask(session)
    for hash, words in (("other", "Look at it again"), ("", "does not say what it is about")):
        status, text = await reply(async_client, row, hash=hash)
        assert (status, words in text) == (422, True)
    assert (await again(row)).state == "pending"


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"scope": "for ever"}, "no such scope"),
        ({"scope": "minutes", "minutes": "0"}, "number of minutes"),
        ({"scope": "minutes", "minutes": "soon"}, "number of minutes"),
        ({"scope": "session", "pattern": "rm *"}, "does not match what is asked"),
        ({"scope": "session", "pattern": "  "}, "no pattern"),
    ],
)
async def test_rules_that_cannot_be(
    world: World, async_client: AsyncClient, form: dict[str, str], words: str
) -> None:
    session = await world.session()
    row = await ask(session)
    status, text = await reply(async_client, row, answer="always", **form)
    assert (status, words in text) == (422, True)
    assert await in_db(permissions.rules, session.project_id) == []


async def test_a_rule_of_another_pattern_and_reach(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row = await ask(session)
    form = {"scope": "minutes", "minutes": "5", "pattern": ["git *"]}
    assert await reply(async_client, row, answer="always", **form) == (200, "")
    (rule,) = await in_db(permissions.rules, session.project_id)
    assert (rule.pattern, rule.scope, rule.origin) == ("git *", "minutes", row.id)


async def test_past_calls_of_a_pattern(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    for patterns in (("git log -1",), ("git push", "git <b>x"), ("ls",)):
        await reply(async_client, await ask(session, patterns=patterns))
    row = await ask(session)
    url = f"/permissions/{row.id}/matches"
    page = (await async_client.get(url, {"pattern": "git *"})).content.decode()
    assert "would have matched 2 past calls" in page
    assert "git push, git &lt;b&gt;x" in page
    assert "does not match" not in page
    page = (await async_client.get(url, {"pattern": "ls"})).content.decode()
    assert "does not match what is asked for here" in page
    assert "There is no pattern" in (await async_client.get(url)).content.decode()


async def test_a_proposal_made_anew_says_so(world: World) -> None:
    session = await world.session()
    await ask(session, "edit", filepath="a.txt", filediff={"before": "1\n", "after": "2\n"}, again=1)
    assert "The file changed since: here is the new proposal." in await shown(session)

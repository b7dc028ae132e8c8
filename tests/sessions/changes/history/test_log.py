"""The operations log: every change with who made it, how it stands with it, and the way to take it back."""

from __future__ import annotations

import re

import pytest
from django.test import AsyncClient

from sessions.changes.history import log as history
from sessions.changes.history.entries import CallEntry
from sessions.changes.history.log import Asked
from sessions.changes.operations import hunks
from sessions.changes.operations.conversation import revert
from sessions.changes.review.verdicts import Scope
from sessions.core.db import in_db
from sessions.core.models import FileChange, Message, Operation, Session
from sessions.core.store import operations
from sessions.core.store import sessions as session_store
from tests.sessions.changes.review.world import World, fresh

HOSTILE = "<script>alert(1)</script>.py"


def log_of(world: World) -> str:
    return f"/p/{world.project.id}/log"


async def text_of(client: AsyncClient, url: str) -> str:
    answer = await client.get(url)
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


async def shown(world: World, client: AsyncClient) -> list[tuple[str, str]]:
    """Title and state of each entry, the newest first."""
    page = await text_of(client, log_of(world))
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    return list(zip(titles, re.findall(r'class="log-state"[^>]*>(.*?)</span>', page), strict=True))


async def url_of(world: World, client: AsyncClient, number: int = 0) -> str:
    """Where the button of the n-th entry that has one leads."""
    return str(re.findall(r'hx-get="([^"]*/invert)"', await text_of(client, log_of(world)))[number])


async def undo_all(session: Session, prompt: str) -> Operation:
    scope = Scope("turn", prompt)
    paths = await in_db(
        lambda: set(FileChange.objects.filter(session=session).values_list("path", flat=True))
    )
    return await hunks.undo(session, scope, dict.fromkeys(paths), actor="me")


async def test_what_it_says_of_a_call(world: World, async_client: AsyncClient) -> None:
    session = await world.session("<b>mine</b>")
    await world.turn(session, {HOSTILE: "a\nb\n"})
    page = await text_of(async_client, log_of(world))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;" in page
    assert "+2" in page
    assert "build · scripted" in page
    assert "&lt;b&gt;mine&lt;/b&gt;" in page
    prompt = await in_db(lambda: Message.objects.get(role="user").id)
    assert f'href="/p/{world.project.id}/s/{session.id}#{prompt}"' in page
    assert await shown(world, async_client) == [("Edit", "In effect")]


async def test_its_sum_counts_the_files_that_it_does_not_name(
    world: World, async_client: AsyncClient
) -> None:
    session = await world.session()
    await world.turn(session)
    answer = await in_db(lambda: Message.objects.get(role="assistant").id)
    for number in range(60):
        await world.edit(session, answer, f"{number}.txt", "a\nb\n", part_id="prt_one")
    page = await text_of(async_client, log_of(world))
    assert "and 52 more files" in page
    assert "+120" in page


async def test_states_follow_the_files(world: World, async_client: AsyncClient) -> None:
    world.write("kept.txt", "".join(f"{n}\n" for n in range(20)))
    session = await world.session()
    text = (world.root / "kept.txt").read_text()
    prompt = await world.turn(session, {"kept.txt": text.replace("2\n", "two\n", 1).replace("17\n", "x\n")})
    operation = await undo_all(session, prompt)
    assert await shown(world, async_client) == [
        ("Undo of 2 hunks", "In effect"),
        ("Edit", "Undone"),
    ]
    await hunks.redo(session, operation.id)
    assert [state for _, state in await shown(world, async_client)] == ["In effect", "Redone", "In effect"]
    world.write("kept.txt", (world.root / "kept.txt").read_text().replace("x\n", "17\n"))
    assert (await shown(world, async_client))[-1][1] == "Partly undone"
    session = await revert(session, prompt)
    listed = await shown(world, async_client)
    assert listed[0] == ("Undo of a part of the conversation", "In effect")
    assert listed[-1] == ("Edit", "Undone with the conversation")


async def test_a_call_is_inverted_file_by_file(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    await world.turn(session)
    answer = await in_db(lambda: Message.objects.get(role="assistant").id)
    for path in ("a.txt", "b.txt"):
        await world.edit(session, answer, path, f"{path}\n", part_id="prt_one")
    url = await url_of(world, async_client)
    assert url.endswith(f"/log/calls/{session.id}/prt_one/invert")
    dialog = await text_of(async_client, url)
    assert dialog.count('name="path"') == 2
    assert "Will be removed" in dialog
    assert (world.root / "a.txt").exists()
    done = await async_client.post(url, {"dialog": "1", "listed": "1", "path": "a.txt"})
    assert "Undone: 1 file changed." in done.content.decode()
    assert not (world.root / "a.txt").exists()
    assert (world.root / "b.txt").exists()
    assert await shown(world, async_client) == [
        ("Undo of changes of 1 file", "In effect"),
        ("Edit", "Partly undone"),
    ]
    await async_client.post(await url_of(world, async_client))
    assert (world.root / "a.txt").exists(), "the operation itself is inverted as well"
    refused = await async_client.post(url, {"dialog": "1", "listed": "1"})
    assert refused.status_code == 422


async def test_an_undone_conversation_comes_back_from_here(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"a.txt": "a\n"})
    after = world.state()
    before = {path: state for path, state in after.items() if path != "a.txt"}
    await revert(session, prompt)
    url = await url_of(world, async_client)
    assert "The conversation comes back" in await text_of(async_client, url)
    await async_client.post(url)
    assert world.state() == after
    assert (await fresh(session)).revert is None
    assert [state for _, state in await shown(world, async_client)] == ["In effect", "Redone", "In effect"]
    await async_client.post(await url_of(world, async_client))
    assert world.state() == before, "and the redo of it is taken back"


async def test_a_final_undo_gives_its_files_back(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"a.txt": "a\n"})
    after = world.state()
    await revert(session, prompt)
    await in_db(operations.make_final, session.id)
    assert (await shown(world, async_client))[0][1] == "Final: a new prompt followed"
    await async_client.post(await url_of(world, async_client))
    assert world.state() == after
    assert [state for _, state in await shown(world, async_client)][:2] == ["In effect", "Redone"]
    await async_client.post(await url_of(world, async_client))
    assert not (world.root / "a.txt").exists()


async def test_a_refusal_is_said(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"a.txt": "a\n"})
    operation = await undo_all(session, prompt)
    url = await url_of(world, async_client)
    await hunks.redo(session, operation.id)
    late = await async_client.post(url, {"dialog": "1"})
    assert (late.status_code, late["HX-Retarget"]) == (422, "#undo-problem")
    assert "taken back already" in late.content.decode()
    beside = await async_client.post(url)
    assert "taken back already" in beside.content.decode(), "without a dialog it is a note"


async def test_filters_and_pages(
    world: World, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE", 3)
    one, other = await world.session("one"), await world.session("other")
    prompts = [await world.turn(one, {f"one{n}.txt": "x\n"}) for n in range(4)]
    await world.turn(other, {"other.txt": "x\n"})
    await in_db(lambda: FileChange.objects.filter(path="one1.txt").update(origin="command"))
    await revert(one, prompts[-1], what="files")
    seen: list[str] = []
    before = ""
    while True:
        found = await in_db(history.page, world.project, Asked.of({"before": before}))
        seen += [entry.newest.path if isinstance(entry, CallEntry) else entry.kind for entry in found.entries]
        if not found.before:
            break
        before = found.before
    assert seen == ["undo", "other.txt", "one3.txt", "one2.txt", "one1.txt", "one0.txt"]

    async def filtered(**query: str) -> list[str]:
        found = await in_db(history.page, world.project, Asked.of(query))
        return [entry.newest.path if isinstance(entry, CallEntry) else entry.kind for entry in found.entries]

    assert await filtered(kind="command") == ["one1.txt"]
    assert await filtered(kind="undo") == ["undo"]
    assert await filtered(session=other.id) == ["other.txt"]
    assert await filtered(file="ONE3") == ["undo", "one3.txt"]
    assert await filtered(file="nothing") == []
    assert len(await filtered(kind="nonsense", before="x.y")) == 3
    answer = await async_client.get(f"{log_of(world)}?file=nothing", headers={"HX-Request": "true"})
    assert "Nothing in the log matches this" in answer.content.decode()
    assert "<html" not in answer.content.decode()


async def test_only_what_belongs_together_is_found(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"a.txt": "a\n"})
    url = await url_of(world, async_client)
    operation = await undo_all(session, prompt)
    assert (await async_client.get("/p/unknown/log")).status_code == 404
    for wrong in (
        url.replace(world.project.id, "unknown"),
        f"{log_of(world)}/operations/{operation.id}x/invert",
        f"/p/unknown/log/operations/{operation.id}/invert",
        f"{log_of(world)}/calls/{session.id}/unknown/invert",
    ):
        assert (await async_client.post(wrong)).status_code == 404
    await in_db(session_store.delete, session.id)
    assert (await async_client.post(url)).status_code == 404

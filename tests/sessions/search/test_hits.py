"""What is found in conversations, and what is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from sessions.core.db import in_db
from sessions.core.index import fts
from sessions.core.models import Session
from sessions.core.store import index
from sessions.core.store import sessions as session_store
from sessions.search import hits
from sessions.search.hits import NEWEST, Found
from sessions.search.query import parse
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
DAY_MS = 86_400_000


async def find(text: str, *, here: str = "", before: int = NEWEST, **most: int) -> Found:
    query = parse(text, datetime.now(UTC))
    return await in_db(hits.find, query, here=here, before=before, **most)


def ids(found: Found) -> list[str]:
    return [hit.message_id for group in found.groups for hit in group.hits]


def marked(found: Found) -> list[str]:
    pieces = (piece for group in found.groups for hit in group.hits for piece in hit.snippet)
    return [piece.text for piece in pieces if piece.marked]


async def step(talk: Talk, prompt: str, text: str = "", **fields: Any) -> str:
    """A step that has ended; `command` it ran, with its `output` or `error`, and `files` it changed."""
    answer = await talk.answer(prompt, agent=fields.get("agent", "build"))
    if text:
        await talk.text(answer, text, ended=True)
    if "command" in fields:
        time = {"start": 1, "end": 2}
        state: dict[str, Any] = {"input": {"command": fields["command"]}, "time": time}
        if "error" in fields:
            state |= {"status": "error", "error": fields["error"]}
        else:
            state |= {"status": "completed", "output": fields.get("output", ""), "title": ""}
        await talk.part(answer, "tool", callID="c", tool="bash", state=state)
    if "files" in fields:
        await talk.part(answer, "patch", hash="", files=fields["files"])
    time = {"created": fields.get("created", 1), "completed": 2}
    await talk.answer(prompt, id=answer, agent=fields.get("agent", "build"), time=time)
    return answer


async def test_all_words_have_to_be_there_in_one_message(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    both = await talk.prompt("A quokka and a wombat")
    await talk.prompt("A quokka alone")
    spread = await step(talk, both, "The wombat", command="ls", output="quokka.txt")
    assert ids(await find("wombat quok")) == [spread, both]
    assert marked(await find('"quokka and"')) == ["quokka and"]
    assert ids(await find('"wombat and"')) == []


async def test_hits_are_grouped_by_session_the_newest_first(tmp_path: Path) -> None:
    one, two = await Talk.begin(tmp_path, "one"), await Talk.begin(tmp_path, "two")
    first = [await one.prompt(f"quokka {number}") for number in range(3)]
    second = await two.prompt("quokka")
    found = await find("quokka", of_session=2)
    assert [group.session.id for group in found.groups] == [two.session.id, one.session.id]
    assert ids(found) == [second, first[2], first[1]]
    assert [group.more for group in found.groups] == [False, True]
    assert ids(await find(f"quokka session:{one.session.id}")) == first[::-1]


async def test_pages_follow_from_one_another(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    said = [await talk.prompt(f"quokka {number}") for number in range(5)]
    page = await find("quokka", limit=2, of_session=2)
    seen = ids(page)
    while page.before:
        page = await find("quokka", limit=2, of_session=2, before=page.before)
        seen += ids(page)
    assert seen == said[::-1]


async def test_filters_of_a_message(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    prompt = await talk.prompt("go")
    good = await step(talk, prompt, command="npm test -- --watch", output="fine")
    bad = await step(talk, prompt, command="npm test", error="it broke", agent="plan")
    edit = await step(talk, prompt, files=[f"{tmp_path}/src/login.py"])
    assert ids(await find("ran:npm")) == [bad, good]
    assert ids(await find('ran:"test -- --w"')) == [good]
    found = await find("ran:npm has:error")
    assert ids(found) == [bad]
    assert "it broke" in {piece.text for hit in found.groups[0].hits for piece in hit.snippet}
    assert ids(await find("agent:plan")) == [bad]
    assert ids(await find("model:demo/scripted has:error")) == [bad]
    found = await find("file:src/login")
    assert ids(found) == [edit]
    assert marked(found) == ["src/login"]
    assert ids(await find("file:other.py")) == []


async def test_beside_words_files_and_commands_are_asked_of_the_session(tmp_path: Path) -> None:
    one, two = await Talk.begin(tmp_path, "one"), await Talk.begin(tmp_path, "two")
    asked = await one.prompt("Mend the quokka")
    await step(one, asked, files=["/a/login.py", "/b/x.txt"])
    await two.prompt("Mend the quokka")
    assert ids(await find("quokka file:login.py")) == [asked]
    assert ids(await find("quokka file:b/login.py")) == []  # words of two files
    assert ids(await find("quokka ran:make")) == []


async def test_of_a_project_and_a_time(tmp_path: Path) -> None:
    here, there = await Talk.begin(tmp_path / "zoo"), await Talk.begin(tmp_path / "farm")
    moment = datetime.now(UTC)
    old = int((moment - timedelta(days=100)).timestamp() * 1000)
    await there.prompt("quokka")
    new = await here.prompt("quokka")
    earlier = await here.prompt("quokka", time={"created": old})
    assert ids(await find("quokka project:this", here=here.project.id)) == [earlier, new]
    assert ids(await find("quokka project:ZO after:7d")) == [new]
    assert ids(await find("before:30d")) == [earlier]
    assert ids(await find("after:2026-02 before:2026-01")) == []
    assert ids(await find(f"quokka after:{moment - timedelta(days=120):%Y-%m} before:30d")) == [earlier]
    assert "nowhere" in (await find("quokka project:nowhere")).problem


async def test_sessions_are_found_by_their_titles(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path, title="About the quokka")
    found = await find("quok")
    assert [group.session.id for group in found.groups] == [talk.session.id]
    assert [piece.text for piece in found.groups[0].title if piece.marked] == ["quok"]
    assert not ids(found)
    assert (await find("quok has:error")).groups == []


async def test_what_is_deleted_or_undone_is_not_found(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    first, second = await talk.prompt("quokka one"), await talk.prompt("quokka two")
    await in_db(session_store.update, talk.session.id, revert={"messageID": second})
    assert ids(await find("quokka")) == [first]
    await in_db(session_store.update, talk.session.id, revert=None)
    assert ids(await find("quokka")) == [second, first]
    await in_db(session_store.delete, talk.session.id)
    assert ids(await find("quokka")) == []
    await in_db(session_store.restore, talk.session.id)
    await in_db(session_store.archive, talk.session.id)
    assert ids(await find("quokka")) == [second, first]


async def test_chinese_and_names_in_code(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    chinese = await talk.prompt("请检查大数据库的连接")
    code = await talk.prompt("Rename getUserName, please")
    assert ids(await find("数据库")) == [chinese]
    assert ids(await find("库")) == [chinese]
    assert ids(await find("据数")) == []
    assert ids(await find("username")) == ids(await find("getUser")) == [code]


async def test_a_damaged_index_is_said_and_made_anew(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    prompt = await talk.prompt("quokka")
    await in_db(index.catch_up, 5)

    def damage() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {fts.TABLE}")
        connection.close()

    await in_db(damage)
    assert "damaged" in (await find("quokka")).problem
    while await in_db(index.catch_up, 5):
        pass
    assert ids(await find("quokka")) == [prompt]


async def test_an_empty_query_finds_nothing(tmp_path: Path) -> None:
    await (await Talk.begin(tmp_path)).prompt("quokka")
    assert (await find("  ")).groups == ()
    assert await in_db(Session.objects.count) == 1

"""The index has what was said when somebody looks for it, and no write fails for its sake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from sessions.core.db import in_db, in_db_sync
from sessions.core.index import fts
from sessions.core.index.words import Term
from sessions.core.models import Message
from sessions.core.store import forks, index, messages
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def empty(transactional_db: None) -> None:
    """Other tests leave documents of messages that are gone."""
    in_db_sync(index.start_over)


def found(word: str) -> list[str]:
    """The messages that the index says have a word, to who brings it up to date first."""
    index.catch_up(index.FEW)
    wanted = [[lookup] for lookup in Term(word).lookups]
    numbers = [number for number, _ in fts.messages(wanted, below=2**62, limit=1000)]
    rows = Message.objects.filter(document__in=numbers).order_by("document")
    return list(rows.values_list("id", flat=True))


def due() -> list[str]:
    return list(index.due().values_list("id", flat=True))


async def answered(talk: Talk, text: str, **fields: Any) -> str:
    answer = await talk.answer(await talk.prompt("asked"), **fields)
    await talk.text(answer, text, ended=True)
    return answer


ENDED = {"time": {"created": 1, "completed": 2}}


async def test_a_prompt_is_found_at_once(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    prompt = await talk.prompt("Where is the quokka?")
    assert await in_db(found, "quokka") == [prompt]
    assert await in_db(due) == []


async def test_an_answer_is_found_when_it_has_ended(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    prompt = await talk.prompt()
    answer = await talk.answer(prompt)
    part = await talk.text(answer, "A quokka", ended=False)
    await talk.fold(part, "A quokka lives")
    assert await in_db(found, "quokka") == []
    assert await in_db(due) == []
    await talk.answer(prompt, id=answer, **ENDED)
    assert await in_db(found, "quokka") == [answer]


async def test_what_is_changed_afterwards_is_found_as_it_is(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    answer = await answered(talk, "one quokka", **ENDED)
    await talk.text(answer, "two wombats", ended=True)
    assert await in_db(found, "quokka") == await in_db(found, "wombats") == [answer]
    await in_db(messages.remove_message, talk.session.id, answer)
    assert await in_db(found, "quokka") == []


async def test_in_a_transaction_that_is_taken_back_nothing_is_found(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    answer = await answered(talk, "one quokka", **ENDED)

    def fail() -> None:
        with transaction.atomic():
            messages.remove_message(talk.session.id, answer)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await in_db(fail)
    assert await in_db(found, "quokka") == [answer]


async def test_a_fork_is_found_and_a_long_one_a_little_later(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    await answered(talk, "one quokka", **ENDED)
    short = await in_db(forks.fork, talk.session)
    assert len(await in_db(found, "quokka")) == 2
    for number in range(index.FEW):
        await answered(talk, f"quokka number {number}", **ENDED)
    while await in_db(index.catch_up, 5):
        pass
    await in_db(forks.fork, talk.session)
    assert len(await in_db(due)) == 2 * (index.FEW + 1)
    while await in_db(index.catch_up, 5):
        pass
    assert len(await in_db(found, "quokka")) == 2 * (index.FEW + 1) + 1
    assert await in_db(index.progress) is None
    assert short.id


DAMAGE = (
    f"DROP TABLE {fts.TABLE}",
    pytest.param(f"DROP TABLE {fts.TABLE}_config", marks=pytest.mark.sqlite),
    pytest.param(f"DROP TABLE {fts.TABLE}_data", marks=pytest.mark.sqlite),
    pytest.param(f"DELETE FROM {fts.TABLE}_data", marks=pytest.mark.sqlite),  # noqa: S608
    pytest.param(f"UPDATE {fts.TABLE}_data SET block = zeroblob(10)", marks=pytest.mark.sqlite),  # noqa: S608
)


def damage(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
    connection.close()  # SQLite remembers what it has read


@pytest.mark.parametrize("statement", DAMAGE)
async def test_a_damaged_index_harms_no_write_and_is_made_anew(tmp_path: Path, statement: str) -> None:
    talk = await Talk.begin(tmp_path)
    before = await talk.prompt("the first quokka")
    await in_db(damage, statement)
    after = await talk.prompt("the second quokka")
    assert len(await in_db(messages.history, talk.session.id)) == 2
    assert after in await in_db(due)
    while await in_db(index.catch_up, 5):
        pass
    assert await in_db(found, "quokka") == [before, after]


async def test_an_index_of_other_words_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = await Talk.begin(tmp_path)
    prompt = await talk.prompt("a quokka")
    await in_db(index.catch_up, 5)
    await in_db(index.prepare)
    assert await in_db(due) == []
    monkeypatch.setattr(fts, "TABLE", f"{fts.PREFIX}_other")
    await in_db(index.prepare)
    assert await in_db(due) == [prompt]
    assert await in_db(index.catch_up, 5) == 1
    assert await in_db(found, "quokka") == [prompt]
    monkeypatch.undo()
    await in_db(index.start_over)


async def test_what_stands_for_nothing_is_let_go_when_it_is_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "SPARE", 3)
    talk = await Talk.begin(tmp_path)
    for number in range(5):
        await answered(talk, f"quokka {number}", **ENDED)
    assert await in_db(index.catch_up, 20) == 10
    for entry in (await in_db(messages.history, talk.session.id))[:-2]:
        await in_db(messages.remove_message, talk.session.id, entry["info"]["id"])
    await in_db(index.prepare)
    assert len(await in_db(due)) == 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL plans by what its tables hold")
def test_what_is_due_is_found_without_looking_at_all_of_it() -> None:
    """In its order, from either end; and the last number from the end of an index."""
    for rows in (index.due(), index.due().reverse()):
        plan = rows[:25].explain()
        assert "message_due" in plan
        assert "TEMP B-TREE" not in plan
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {index._LAST}")
        assert "SEARCH opencode_sessions_message USING COVERING INDEX message_by_document" in str(
            cursor.fetchall()
        )

"""A fork has the conversation with ids of its own, and leaves the original as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.db import in_db
from sessions.core.store import forks, messages, todos
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import TodoInfo
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def talked(folder: Path) -> tuple[Talk, list[str]]:
    """Two prompts with their answers; the ids of the four messages."""
    talk = await Talk.begin(folder, title="Original")
    ids = []
    for words in ("one", "two"):
        prompt = await talk.prompt(words)
        answer = await talk.answer(prompt, time={"created": 1, "completed": 2})
        await talk.text(answer, f"answer {words}", ended=True)
        await talk.part(
            answer,
            "tool",
            callID="c",
            tool="read",
            state={"status": "completed", "input": {}, "output": words, "title": "", "time": {"start": 1}},
        )
        ids += [prompt, answer]
    return talk, ids


async def test_a_fork_is_a_copy_with_new_ids_in_order(tmp_path: Path) -> None:
    talk, _ = await talked(tmp_path / "project")
    await in_db(todos.replace, talk.session, [TodoInfo(content="later")])
    before = await in_db(messages.history, talk.session.id)
    copy = await in_db(forks.fork, talk.session)
    after = await in_db(messages.history, copy.id)
    assert copy.title == "Original (fork #1)"
    assert [_said(entry) for entry in after] == [_said(entry) for entry in before]
    ids = [entry["info"]["id"] for entry in after]
    assert ids == sorted(ids)
    assert not {*ids} & {entry["info"]["id"] for entry in before}
    assert [entry["info"].get("parentID") for entry in after] == [None, ids[0], None, ids[2]]
    assert {part["messageID"] for entry in after for part in entry["parts"]} == {*ids}
    assert [todo.content for todo in await in_db(todos.listing, copy.id)] == ["later"]
    assert await in_db(messages.history, talk.session.id) == before


async def test_a_fork_ends_before_a_message(tmp_path: Path) -> None:
    talk, ids = await talked(tmp_path / "project")
    copy = await in_db(forks.fork, talk.session, ids[2])
    assert [_said(entry)[0] for entry in await in_db(messages.history, copy.id)] == ["one", "answer one"]


async def test_what_is_undone_or_still_runs_is_left_out(tmp_path: Path) -> None:
    talk, ids = await talked(tmp_path / "project")
    running = await talk.answer(ids[2])
    await talk.text(running, "half a")
    copy = await in_db(forks.fork, talk.session)
    assert len(await in_db(messages.history, copy.id)) == 4
    await in_db(session_store.update, talk.session.id, revert={"messageID": ids[2]})
    undone = await in_db(session_store.get, talk.session.id)
    assert undone is not None
    shorter = await in_db(forks.fork, undone)
    assert [_said(entry)[0] for entry in await in_db(messages.history, shorter.id)] == ["one", "answer one"]
    assert shorter.revert is None
    parts = (await in_db(messages.history, talk.session.id))[1]["parts"]
    point = {"messageID": ids[1], "partID": parts[1]["id"]}
    undone.revert = point
    partly = await in_db(forks.fork, undone)
    history = await in_db(messages.history, partly.id)
    assert [part["type"] for part in history[1]["parts"]] == ["text"]


def _said(entry: dict[str, list[dict[str, str]]]) -> list[str]:
    return [part.get("text", part["type"]) for part in entry["parts"]]

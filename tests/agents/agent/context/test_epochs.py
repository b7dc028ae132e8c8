"""Epochs over rows: what a session is told at each safe boundary, and what begins anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from agents.agent.context import registry
from agents.agent.context.epochs import ContextBlocked, admit, prepare
from agents.agent.context.source import Source, Unavailable
from agents.agent.context.sources import date as date_source
from agents.agent.steps.history import Transcript, request_messages
from agents.config.schema import Config
from agents.llm.readers.anthropic_messages import build as anthropic_body
from agents.llm.readers.openai_body import build as openai_body
from agents.llm.types import Model, ModelRequest
from agents.toolkit.definitions import Agent
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.ids import ascending, now
from sessions.core.models import ContextEpoch, ContextMessage, Session
from sessions.core.store import context as store
from sessions.core.store import messages, projects
from sessions.core.store import sessions as session_store
from sessions.core.wire.messages import MESSAGE
from sessions.core.wire.parts import PART

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = Model("fake", "one", "One", "openai", "one", base_url="http://127.0.0.1/v1")
FIRST_DAY = date(2026, 2, 27)


@dataclass
class Stage:
    """One session; `turn` is what its next provider turn samples."""

    turn: Turn
    transcript: Transcript
    day: date = FIRST_DAY

    @property
    def session_id(self) -> str:
        return self.turn.session.id

    def write(self, name: str, text: str) -> None:
        (self.turn.directory / name).write_text(text)

    async def boundary(self, protocol: Callable[[ModelRequest], Any] = openai_body) -> dict[str, Any]:
        """The body of the request at a safe boundary."""
        baseline = await admit(self.turn)
        entries = await self.transcript.refresh()
        said = request_messages(entries, self.turn.model)
        body: dict[str, Any] = protocol(ModelRequest(self.turn.model, ["You code.", baseline], said))
        return body

    async def say(self, role: str, text: str) -> str:
        """A whole message of one text; its id."""
        fields = {"time": {"created": now(), "completed": now()}, "agent": "build"}
        if role == "user":
            fields["model"] = {"providerID": "fake", "modelID": "one"}
        else:
            fields |= {"parentID": "msg_0", "providerID": "fake", "modelID": "one", "mode": "build"}
            fields["path"] = {"cwd": "/", "root": "/"}
        message_id = ascending("msg")
        ids = {"sessionID": self.session_id}
        message = MESSAGE.validate_python({"id": message_id, "role": role, **ids, **fields})
        part = PART.validate_python(
            {"id": ascending("prt"), "messageID": message_id, "type": "text", "text": text, **ids}
        )
        await in_db(messages.put_message, message)
        await in_db(messages.put_part, part)
        return message_id

    async def told(self) -> list[str]:
        """Every system message there ever was."""
        rows = await in_db(lambda: list(ContextMessage.objects.order_by("id")))
        return [row.text for row in rows]


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> Stage:
    settings.CONFIG_DIRS = [tmp_path / "config"]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()

    def create() -> Session:
        row = session_store.create(projects.open_project(folder), str(folder))
        return Session.objects.select_related("project").get(id=row.id)

    session = await in_db(create)
    turn = Turn(session, folder, folder, Config(), Agent("build"), MODEL, ())
    made = Stage(turn, Transcript(session.id))
    monkeypatch.setattr(date_source, "today", lambda: made.day)
    return made


def plain(body: dict[str, Any]) -> tuple[Any, list[Any]]:
    """System texts, and the conversation as a flat list of (role, content) without cache marks."""
    flat: list[Any] = []
    for message in body["messages"]:
        content = message["content"]
        flat += [
            (message["role"], json.dumps(item))
            for item in (content if isinstance(content, list) else [content])
        ]
    text = json.dumps([body.get("system"), flat]).replace(', "cache_control": {"type": "ephemeral"}', "")
    text = text.replace(', \\"cache_control\\": {\\"type\\": \\"ephemeral\\"}', "")
    system, kept = json.loads(text)
    return system, kept


@pytest.mark.parametrize("protocol", [openai_body, anthropic_body])
async def test_ten_steps_grow_at_the_end_only(stage: Stage, protocol: Callable[[ModelRequest], Any]) -> None:
    stage.write("AGENTS.md", "Use tabs.")
    await prepare(stage.turn)
    bodies = []
    await stage.say("user", "Begin.")
    for step in range(10):
        if step == 4:
            stage.write("AGENTS.md", "Use spaces.")
            stage.day += timedelta(days=1)
        if step == 7:
            stage.write("notes.txt", "a new file is no news")
        bodies.append(plain(await stage.boundary(protocol)))
        await stage.say("assistant", f"Step {step}.")
        await stage.say("user", f"Go on after {step}.")
    for earlier, later in pairwise(bodies):
        assert later[0] == earlier[0]
        assert later[1][: len(earlier[1])] == earlier[1]
    (text,) = await stage.told()
    assert "Sat Feb 28 2026" in text
    assert "Use spaces." in text
    assert "Use tabs." not in text
    assert [json.dumps(body).count("Use spaces.") for body in bodies] == [0] * 4 + [1] * 6
    assert "Use tabs." in json.dumps(bodies[9])


async def test_the_message_follows_the_prompt_of_its_boundary(stage: Stage) -> None:
    await prepare(stage.turn)
    await stage.say("user", "First.")
    await stage.boundary()
    await stage.say("assistant", "Done.")
    stage.write("AGENTS.md", "Use tabs.")
    await stage.say("user", "Second.")
    await stage.boundary()
    await stage.say("assistant", "Done again.")
    entries = await stage.transcript.refresh()
    assert [entry["info"]["role"] for entry in entries] == [
        "user",
        "assistant",
        "user",
        "system",
        "assistant",
    ]


async def test_an_unchanged_boundary_writes_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = await admit(stage.turn)
    for name in ("begin", "advance"):
        monkeypatch.setattr(store, name, None)
    assert await admit(stage.turn) == baseline
    await prepare(stage.turn)


async def test_the_baseline_is_reused_as_it_was_written(stage: Stage) -> None:
    stage.write("seen.txt", "")
    await prepare(stage.turn)
    kept = await in_db(lambda: ContextEpoch.objects.get().baseline)
    stage.write("unseen.txt", "")
    assert await admit(stage.turn) == kept
    assert "seen.txt" in kept
    assert "unseen.txt" not in kept


async def test_a_switch_of_the_model_is_one_line_of_news_and_of_the_agent_none(stage: Stage) -> None:
    baseline = await admit(stage.turn)
    stage.turn = replace(stage.turn, agent=Agent("other"))
    assert await admit(stage.turn) == baseline
    assert await stage.told() == []
    stage.turn = replace(stage.turn, model=replace(MODEL, model_id="two", name="Two"))
    assert await admit(stage.turn) == baseline
    (text,) = await stage.told()
    assert "Two (fake/two)" in text
    assert "<files>" not in text


async def test_the_end_of_instructions_is_told(stage: Stage) -> None:
    stage.write("AGENTS.md", "Use tabs.")
    await admit(stage.turn)
    (stage.turn.directory / "AGENTS.md").unlink()
    await admit(stage.turn)
    (text,) = await stage.told()
    assert "no longer apply" in text
    assert "Instructions from" not in text


async def test_a_compaction_folds_all_into_a_fresh_baseline(stage: Stage) -> None:
    await admit(stage.turn)
    stage.write("AGENTS.md", "Use tabs.")
    await stage.say("user", "First.")
    await stage.boundary()
    await in_db(store.end, stage.session_id)
    body = await stage.boundary()
    assert "Use tabs." in body["messages"][0]["content"]
    assert json.dumps(body["messages"][1:]).count("Use tabs.") == 0
    assert len(await stage.told()) == 1


@pytest.mark.parametrize("stored", [{"version": 99, "sources": {}}, ["not a snapshot"]])
async def test_a_snapshot_that_cannot_be_compared_begins_anew(stage: Stage, stored: Any) -> None:
    await admit(stage.turn)
    stage.write("AGENTS.md", "Use tabs.")
    await in_db(lambda: ContextEpoch.objects.update(snapshot=stored))
    await prepare(stage.turn)
    assert "Use tabs." in await admit(stage.turn)
    assert await stage.told() == []


async def test_a_moved_session_begins_with_the_baseline_of_its_new_folder(stage: Stage) -> None:
    await admit(stage.turn)
    folder = stage.turn.directory / "inside"
    folder.mkdir()
    session = await in_db(store.move, stage.session_id, str(folder))
    assert session is not None
    stage.turn.session.directory = str(folder)
    stage.turn = replace(stage.turn, directory=folder)
    await prepare(stage.turn)
    assert f"Working directory: {folder}" in await admit(stage.turn)


async def test_an_undo_for_good_takes_back_what_was_told_and_begins_anew(stage: Stage) -> None:
    await admit(stage.turn)
    await stage.say("user", "First.")
    await stage.boundary()
    await stage.say("assistant", "Done.")
    stage.write("AGENTS.md", "Use tabs.")
    second = await stage.say("user", "Second.")
    await stage.boundary()
    await in_db(messages.remove_messages, stage.session_id, second)
    stage.transcript.forget()
    body = await stage.boundary()
    assert "Use tabs." in body["messages"][0]["content"]
    assert await stage.told() == []


async def test_an_incomplete_baseline_is_not_persisted(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = [Unavailable("Waiting for the moon."), "full"]

    async def load() -> Any:
        return answers[0]

    async def produce(_: Turn) -> list[Source[str]]:
        return [Source("test/moon", load, encode=str, baseline=str, update=str, removal=str)]

    monkeypatch.setitem(registry.PRODUCERS, "test/moon", produce)
    for work in (prepare, admit):
        with pytest.raises(ContextBlocked, match="the moon"):
            await work(stage.turn)
    assert await in_db(store.epoch, stage.session_id) is None
    answers.pop(0)
    assert "full" in await admit(stage.turn)
    answers.insert(0, Unavailable())
    assert "full" in await admit(stage.turn)
    assert await stage.told() == []
    monkeypatch.delitem(registry.PRODUCERS, "test/moon")
    await admit(stage.turn)
    assert await stage.told() == ["full"]

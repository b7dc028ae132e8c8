"""The row of a session in the sidebar tells of what waits in the sessions below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.agent import recovery
from sessions.core.db import in_db
from sessions.core.store import questions
from sessions.core.store import sessions as session_store
from sessions.core.wire.questions import QuestionInfo
from sessions.web.live.states import resume, sidebar_item, sidebar_list
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = QuestionInfo.model_validate({"question": "Which?", "header": "Colour", "options": []})
WAITING = 'data-state="waiting"'


async def test_a_question_below_waits_in_the_row_of_the_session_above(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    other = await in_db(session_store.create, talk.project, talk.session.directory, title="other")
    above = talk.session
    for title in ("child", "grandchild"):
        above = await in_db(session_store.create, talk.project, above.directory, parent=above.id, title=title)
    asked = await in_db(
        questions.ask, above, [QUESTION], message_id="msg_1", call_id="call_1", tool="question"
    )
    assert WAITING in await in_db(sidebar_item, talk.session.id, talk.project.id)
    assert WAITING not in await in_db(sidebar_item, other.id, talk.project.id)
    assert (await in_db(sidebar_list, talk.project)).count(WAITING) == 1
    await in_db(questions.reject, asked.id)
    assert WAITING not in await in_db(sidebar_item, talk.session.id, talk.project.id)
    assert WAITING not in await in_db(sidebar_list, talk.project)


async def test_going_on_is_offered_unless_the_configuration_says_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await Talk.begin(tmp_path / "p")
    assert "Go on" not in await in_db(resume, talk.session)
    await talk.answer(await talk.prompt())
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    assert "Go on" in await in_db(resume, talk.session)
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"resume": "off"}')
    assert "Go on" not in await in_db(resume, talk.session)

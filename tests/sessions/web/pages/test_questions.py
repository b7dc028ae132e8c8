"""The form of a question and the buttons of a plan: what they send, and what is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt, QuestionRequest, Session
from sessions.core.plans import plan_path, version
from sessions.core.store import questions
from sessions.core.store import sessions as session_store
from sessions.core.wire.questions import QuestionInfo
from sessions.rendering.parts import part_html
from sessions.rendering.plan import plan_badge
from sessions.rendering.questions import question_list
from sessions.web.plan import plan_panel
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture
async def talk(tmp_path: Path) -> Talk:
    return await Talk.begin(tmp_path / "project")


def question(header: str = "Colour", **more: Any) -> dict[str, Any]:
    options = [{"label": "Red", "description": "Loud"}, {"label": HOSTILE, "description": ""}]
    return {"question": f"Which {header}?", "header": header, "options": options, **more}


async def ask(session: Session, *asked: dict[str, Any], tool: str = "question") -> QuestionRequest:
    infos = [QuestionInfo.model_validate(item) for item in asked or (question(),)]
    return await in_db(questions.ask, session, infos, message_id="msg_1", call_id="call_1", tool=tool)


async def post(client: AsyncClient, url: str, data: dict[str, Any] | None = None) -> tuple[int, str]:
    answer = await client.post(url, data or {})
    return answer.status_code, answer.content.decode()


async def answers_of(row: QuestionRequest) -> list[list[str]]:
    fresh = await in_db(questions.get, row.id)
    assert fresh is not None
    return fresh.answers if fresh.state == "answered" else []


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ({"q0": "0"}, ["Red"]),
        ({"q0": "own", "own0": " a dark blue "}, ["a dark blue"]),
        ({"own0": "only words"}, ["only words"]),
        ({"q0": "0", "own0": "rather green"}, ["rather green"]),
    ],
)
async def test_what_the_form_sends(
    talk: Talk, async_client: AsyncClient, form: dict[str, str], answer: list[str]
) -> None:
    row = await ask(talk.session)
    assert await post(async_client, f"/questions/{row.id}/reply", form) == (200, "")
    assert await answers_of(row) == [answer]


async def test_several_questions_and_several_answers(talk: Talk, async_client: AsyncClient) -> None:
    row = await ask(
        talk.session, question(), question("Parts", multiple=True), question("More", multiple=True)
    )
    form = {"q0": "0", "q1": ["1", "0", "own"], "own1": "and more"}
    assert await post(async_client, f"/questions/{row.id}/reply", form) == (200, "")
    assert await answers_of(row) == [["Red"], ["Red", HOSTILE, "and more"], []]


async def test_what_is_missing_or_wrong_is_said_and_the_question_stays(
    talk: Talk, async_client: AsyncClient
) -> None:
    row = await ask(talk.session, question(custom=False))
    url = f"/questions/{row.id}/reply"
    for form, said in (
        ({}, "“Colour” has no answer yet"),
        ({"q0": "7"}, "“Colour” has no answer yet"),
        ({"own0": "mine"}, "is not among the options"),
        ({"q0": ["0", "1"]}, "takes one answer"),
    ):
        status, text = await post(async_client, url, form)
        assert (status, said in text) == (422, True), text
    assert row.id in await in_db(question_list, talk.session)
    assert (await post(async_client, "/questions/que_nope/reply"))[0] == 404


async def test_of_two_answers_one_wins(talk: Talk, async_client: AsyncClient) -> None:
    row = await ask(talk.session)
    url = f"/questions/{row.id}/reply"
    answers = await asyncio.gather(*(post(async_client, url, {"q0": choice}) for choice in ("0", "1")))
    assert sorted(status for status, _ in answers) == [200, 422]
    assert "answered already" in next(text for status, text in answers if status == 422)
    late = (await post(async_client, f"/questions/{row.id}/reject"))[1]
    assert "<img" not in late
    assert "“Colour” was answered already: " in late
    assert row.id not in await in_db(question_list, talk.session)


async def test_dismissed_stopped_and_deleted(talk: Talk, async_client: AsyncClient) -> None:
    row = await ask(talk.session)
    assert await post(async_client, f"/questions/{row.id}/reject") == (200, "")
    assert "dismissed already" in (await post(async_client, f"/questions/{row.id}/reply", {"q0": "0"}))[1]
    row = await ask(talk.session)
    await in_db(questions.cancel, talk.session.id)
    assert "turn was stopped" in (await post(async_client, f"/questions/{row.id}/reply", {"q0": "0"}))[1]
    row = await ask(talk.session)
    await in_db(session_store.delete, talk.session.id)
    assert (await post(async_client, f"/questions/{row.id}/reply", {"q0": "0"}))[0] == 404


async def test_a_childs_question_is_on_its_parents_page(talk: Talk) -> None:
    child = await in_db(
        session_store.create, talk.project, talk.session.directory, title="below", parent=talk.session.id
    )
    grandchild = await in_db(session_store.create, talk.project, child.directory, parent=child.id)
    row = await ask(grandchild)
    shown = await in_db(question_list, talk.session)
    assert row.id in shown
    assert "asked by Child session" in shown
    assert "asked by" not in await in_db(question_list, grandchild)


async def test_hostile_text_is_shown_and_does_nothing(talk: Talk) -> None:
    await ask(talk.session, question(HOSTILE))
    state = {
        "status": "completed",
        "input": {"questions": [question(HOSTILE), "no question", {"header": 1}]},
        "output": "",
        "title": "",
        "metadata": {"answers": [[HOSTILE], ["?"]]},
        "time": {"start": 1, "end": 2},
    }
    part = {"id": "prt_1", "callID": "call_1", "type": "tool", "tool": "question", "state": state}
    for shown in (await in_db(question_list, talk.session), part_html(part, "assistant")):
        assert "&lt;img src=x onerror=alert(1)&gt;" in shown
        assert "<img" not in shown
        assert "\u202e" not in shown


async def write_plan(session: Session, text: str = f"# The plan\n\n{HOSTILE}") -> None:
    path = plan_path(session)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def test_a_plan_that_is_asked_about_is_approved_by_its_question_alone(talk: Talk) -> None:
    await write_plan(talk.session)
    await in_db(session_store.update, talk.session.id, agent="plan")
    session = await in_db(session_store.get, talk.session.id)
    assert session
    assert "plan-approve" in await in_db(plan_badge, session)
    await ask(session, tool="plan_exit")
    assert "waits for you" in await in_db(plan_panel, session)
    assert "<img" not in await in_db(plan_panel, session)
    assert "plan-approve" not in await in_db(plan_badge, session)


async def test_a_plan_is_edited_only_as_it_was_seen(talk: Talk, async_client: AsyncClient) -> None:
    url = f"{talk.url}/plan/edit"
    assert "cannot be edited" in (await post(async_client, url, {"text": "x"}))[1]
    await write_plan(talk.session, "# One\n")
    path = plan_path(talk.session)
    assert (await post(async_client, url, {"text": "# Two\r\n", "seen": version("# One\n")}))[0] == 200
    assert path.read_bytes() == b"# Two\n"
    assert (await post(async_client, url, {"text": "# Three", "seen": version("# One\n")}))[0] == 422
    assert path.read_bytes() == b"# Two\n"
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert "leads out" in (await post(async_client, url, {"text": "x", "anyway": "1"}))[1]


async def test_a_plan_nobody_asks_about_is_the_next_prompt(talk: Talk, async_client: AsyncClient) -> None:
    url = f"{talk.url}/plan/approve"
    assert "no longer in plan mode" in (await post(async_client, url))[1]
    await in_db(session_store.update, talk.session.id, agent="plan")
    assert "There is no plan at" in (await post(async_client, url))[1]
    await write_plan(talk.session)
    assert (await post(async_client, url))[0] == 204
    [prompt] = await in_db(lambda: list(AdmittedPrompt.objects.all()))
    assert prompt.agent == "build"
    assert str(plan_path(talk.session)) in prompt.parts[0]["text"]
    assert "at work" in (await post(async_client, url))[1], "a second click must not admit it again"


async def test_where_the_plan_is(talk: Talk, tmp_path: Path) -> None:
    assert plan_path(talk.session).parent.name == "plans"
    assert not plan_path(talk.session).is_relative_to(tmp_path)
    talk.session.project.vcs = "git"
    name = f"{talk.session.time_created}-{talk.session.slug}.md"
    assert plan_path(talk.session) == Path(talk.project.worktree, ".opencode/plans", name)
    assert (
        await in_db(plan_panel, talk.session)
        == '<section id="plan" class="plan" hx-swap-oob="true"></section>\n'
    )

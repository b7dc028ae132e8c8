"""The workflow tools, each against our server and OpenCode's own."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.loopback.script import HttpError, ToolUse, Turn, Wait
from tests.opencode_web.bridge.stage import Stage, bridged, cancelled_when

pytestmark = pytest.mark.asyncio(loop_scope="session")


def session_in(text: str) -> str:
    found = re.search(r"ses_\w+", text)
    assert found, text
    return found[0]


async def test_setup_status_and_context_tell_where_we_are(stage: Stage) -> None:
    setup = await stage.tools.ok("setup")
    assert stage.environ["OPENCODE_BASE_URL"] in setup
    assert f"Directory: {stage.project}" in setup
    assert "Default model: fake/fake" in setup
    status = await stage.tools.ok("status")
    assert "healthy" in status
    context = await stage.tools.ok("context")
    assert str(stage.project) in context
    assert "main" in context
    assert "- build" in context
    assert '"apiKey": "[hidden]"' in context


async def test_a_provider_is_tested_in_a_session_that_is_gone_afterwards(stage: Stage) -> None:
    stage.plays(Turn(text="OK"))
    assert re.search(r"fake/fake answered in [\d.]+ s: OK", await stage.tools.ok("provider_test"))
    assert "Provider test" not in await stage.tools.ok("sessions_overview")
    for tool, given in (("provider_test", {}), ("ask", {"prompt": "Try"})):
        stage.plays(Turn(fault=HttpError(401, "no such key")))
        failed = await stage.tools.fails(tool, **given)
        assert failed.startswith("provider: ")
        assert "opencode_auth_set" in failed
        assert "OPENCODE_SERVER" not in failed, "the server's password is not what is wrong"


async def test_ask_and_reply_stay_in_one_session_and_tell_progress(stage: Stage) -> None:
    gate = f"progress {stage.name}"
    stage.plays(Turn(text=["Forty-", Wait(gate), "two."]), Turn(text="Because."))

    def open_gate(step: str) -> None:
        if "characters written" in step:
            stage.model.gate(gate).open()

    stage.tools.heard = open_gate
    asked = await stage.tools("ask", prompt="How much?", title="A question")
    assert not asked.failed
    assert asked.text.startswith("Forty-two.")
    assert "6 characters written" in asked.progress
    session_id = session_in(asked.text)
    assert "Because." in await stage.tools.ok("reply", sessionID=session_id, prompt="Why?")
    read = await stage.tools.ok("conversation", sessionID=session_id)
    assert [part in read for part in ("How much?", "Forty-two.", "Why?", "Because.")] == [True] * 4
    assert read.index("Forty-two.") < read.index("Why?")
    assert "A question" in await stage.tools.ok("sessions_overview", search="A question")


async def test_run_tells_what_was_changed(stage: Stage) -> None:
    write = ToolUse("write", {"filePath": str(stage.project / "new.txt"), "content": "one\ntwo\n"})
    gate = f"written {stage.name}"
    stage.plays(Turn(tools=[write]), Turn(text=[Wait(gate), "Written."]))

    def open_gate(step: str) -> None:
        if step.startswith("write"):
            stage.model.gate(gate).open()

    stage.tools.heard = open_gate
    ran = await stage.tools("run", prompt="Write a file", title="A task")
    assert not ran.failed, ran.text
    assert "Written." in ran.text
    assert "- write" in ran.text
    assert re.search(r"new\.txt \(added, \+2 -0\)", ran.text)
    assert any(step.startswith("write") for step in ran.progress)
    review = await stage.tools.ok("review_changes", sessionID=session_in(ran.text))
    assert "1 file, +2 -0:" in review
    assert "+one" in review
    brief = await stage.tools.ok("review_changes", sessionID=session_in(ran.text), patch=False)
    assert "+one" not in brief


async def test_fire_check_and_wait_follow_a_task(stage: Stage) -> None:
    gate = f"fire {stage.name}"
    stage.plays(Turn(text=["Half ", Wait(gate), "and half."]))
    session_id = session_in(await stage.tools.ok("fire", prompt="Take your time"))
    await stage.model.gate(gate).reached()
    assert "state: busy" in await stage.tools.ok("check", sessionID=session_id)
    assert "is still working" in await stage.tools.ok("wait", sessionID=session_id, seconds=0.2)
    assert session_id in await stage.tools.ok("status")
    waiting = asyncio.create_task(stage.tools.ok("wait", sessionID=session_id))
    stage.model.gate(gate).open()
    assert "Half and half." in await waiting
    checked = await stage.tools.ok("check", sessionID=session_id)
    assert "state: idle" in checked
    assert "Half and half." in checked


async def test_a_long_answer_may_be_left_and_picked_up(stage: Stage) -> None:
    gate = f"left {stage.name}"
    stage.plays(Turn(text=["At ", Wait(gate), "last."]))
    left = await stage.tools.ok("ask", prompt="Slowly", seconds=0.5)
    assert "is still working" in left
    stage.model.gate(gate).open()
    assert "At last." in await stage.tools.ok("wait", sessionID=session_in(left))


async def test_a_permission_is_reported_and_answered(stage: Stage) -> None:
    stage.plays(
        Turn(tools=[ToolUse("bash", {"command": "echo hi", "description": "Say hi"})]), Turn(text="Said.")
    )
    asked = await stage.tools.ok("run", prompt="Say hi in a shell")
    found = re.search(r"per_\w+", asked)
    assert found, asked
    assert "bash: echo hi" in asked
    session_id = session_in(asked)
    assert "waiting for an answer" in await stage.tools.ok("check", sessionID=session_id)
    assert found[0] in await stage.tools.ok("permission_list")
    assert found[0] in await stage.tools.ok("wait", sessionID=session_id)  # it does not hang either
    await stage.tools.ok("permission_reply", requestID=found[0], reply="once")
    assert "Said." in await stage.tools.ok("wait", sessionID=session_id)
    assert "No permission request waits." in await stage.tools.ok("permission_list")


async def test_a_question_is_reported_and_answered(stage: Stage) -> None:
    option = {"label": "Red", "description": "The colour of fire"}
    question = {"question": "Which colour?", "header": "Colour", "options": [option]}
    stage.plays(Turn(tools=[ToolUse("question", {"questions": [question]})]), Turn(text="Painted."))
    asked = await stage.tools.ok("ask", prompt="Paint it")
    found = re.search(r"que_\w+", asked)
    assert found, asked
    assert "Which colour? [Red]" in asked
    assert found[0] in await stage.tools.ok("question_list")
    await stage.tools.ok("question_reply", requestID=found[0], answers=[["Red"]])
    assert "Painted." in await stage.tools.ok("wait", sessionID=session_in(asked))


async def test_a_cancelled_call_ends_the_turn_it_began(stage: Stage) -> None:
    gate = f"never {stage.name}"
    stage.plays(Turn(text=["Never ", Wait(gate), "said."]))
    session_id = await stage.session()
    dropped = sum(request.disconnected for request in stage.model.requests)
    await cancelled_when(
        lambda: stage.tools("reply", sessionID=session_id, prompt="Begin"), stage.model.gate(gate).reached
    )
    await stage.model.wait_for_disconnect(dropped + 1)
    assert "is idle" in await stage.tools.ok("wait", sessionID=session_id)


async def test_a_failed_turn_is_a_tool_error_with_a_category(stage: Stage) -> None:
    stage.plays(Turn(fault=HttpError(400, "the model is out of order")))
    failed = await stage.tools.fails("ask", prompt="Try")
    assert failed.startswith("invalid: ")
    assert "the model is out of order" in failed
    nobody = await stage.tools.fails("ask", prompt="Try", agent="nobody")
    assert nobody.startswith("not_found: "), nobody
    nothing = await stage.tools.fails("ask", prompt="Try", providerID="no", modelID="such")
    assert nothing.startswith("not_found: "), nothing
    half = await stage.tools.fails("ask", prompt="Try", providerID="fake")
    assert "giv" in half
    assert half.startswith("invalid: ")


async def test_the_environment_names_a_default_model(stage: Stage) -> None:
    environ = {**stage.environ, "OPENCODE_DEFAULT_PROVIDER": "no", "OPENCODE_DEFAULT_MODEL": "such"}
    async with bridged(environ, stage.project) as tools:
        assert "Default model: no/such" in await tools.ok("setup")
        assert (await tools.fails("ask", prompt="Try")).startswith("not_found: ")
        stage.plays(Turn(text="With another."))
        named = await tools.ok("ask", prompt="Try", providerID="fake", modelID="fake")
        assert named.startswith("With another.")

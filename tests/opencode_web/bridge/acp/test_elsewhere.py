"""What happens to an editor's session at the page, or through another client."""

from __future__ import annotations

import asyncio

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.bridge.acp.conftest import Stage
from tests.opencode_web.bridge.acp.stage import editing
from tests.opencode_web.bridge.acp.test_turns import bash, begun

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_request_that_is_answered_at_the_page_is_withdrawn(stage: Stage) -> None:
    stage.plays(Turn(tools=[bash("echo page", "page 1")]))
    async with editing(stage.environ) as editor:
        person = editor.person
        person.hold = True
        session_id = await begun(editor, stage)
        running = asyncio.create_task(editor.prompt(session_id, "Say it"))
        await person.until(lambda: person.asked)
        [request] = [one for one in await stage.client.permissions() if one["sessionID"] == session_id]
        await stage.client.reply(request["id"], "once")
        assert (await running).stop_reason == "end_turn"
        [asked] = [line for line in editor.lines if line.get("method") == "session/request_permission"]
        [gone] = [line for line in editor.lines if line.get("method") == "$/cancel_request"]
        assert gone["params"] == {"requestId": asked["id"]}


async def test_a_question_is_a_choice_of_labels(stage: Stage) -> None:
    options = [{"label": label, "description": ""} for label in ("Tabs", "Spaces")]
    questions = [{"question": "Which ones?", "header": "Indent", "options": options}]
    ask = [ToolUse("question", {"questions": questions}, f"question {number}") for number in (1, 2)]
    stage.plays(Turn(tools=[ask[0]]), Turn(tools=[ask[1]]))
    async with editing(stage.environ) as editor:
        person = editor.person
        person.answer = lambda call, options: options[1].option_id if len(person.asked) == 1 else None
        session_id = await begun(editor, stage)
        await editor.prompt(session_id, "Ask me")
        call, shown = person.asked[0]
        assert (call.title, [option.name for option in shown]) == ("Which ones?", ["Tabs", "Spaces", "Skip"])
        updates = {call["toolCallId"]: call for call in person.of("tool_call_update")}
        assert "Spaces" in str(updates["question 1"]["content"])
        assert updates["question 2"]["status"] == "failed"


async def test_what_the_page_asks_and_names_is_told(stage: Stage) -> None:
    stage.plays(Turn(text="For the page."))
    async with editing(stage.environ) as editor:
        person = editor.person
        session_id = await begun(editor, stage)
        await person.until(lambda: person.of("available_commands_update"))
        await editor.prompt(session_id, "Mine")
        assert person.said("user_message_chunk") == ""
        stage.plays(Turn(text="Again."))
        await stage.client.prompt(session_id, "From the page", agent="plan")
        await person.until(lambda: person.said() == "For the page.Again.")
        assert person.said("user_message_chunk") == "From the page"
        await person.until(lambda: person.of("current_mode_update"))
        assert person.of("current_mode_update")[-1]["currentModeId"] == "plan"
        await stage.client.http.patch(f"/session/{session_id}", json={"title": "A good name"})
        await person.until(lambda: any(u["title"] == "A good name" for u in person.of("session_info_update")))

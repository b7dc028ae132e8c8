"""Whole turns: how far an allow reaches, when it ends, what beats it, what is noted of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.loopback.script import ToolUse, Turn
from tests.runtime.asking import stage, turns
from tests.runtime.cast import Cast, task
from tests.server import until

STATUS = ToolUse("bash", {"command": "git status"})
LOG = ToolUse("bash", {"command": "git log -1"})


async def test_an_allow_for_this_turn_ends_with_it(home: Path, project: Path) -> None:
    script = [Turn(tools=[STATUS]), Turn(tools=[LOG]), Turn(text="Done."), *turns(STATUS)]
    async with stage(home, project, script) as on:
        session = await on.session()
        await on.reply(await on.asked(), reply="always", scope="turn", patterns=["git *"])
        await on.idle(session)
        assert await on.statuses(session) == ["completed", "completed"]
        await on.client.prompt_async(session, "Again.")
        await on.reply(await on.asked(), reply="reject")
        await on.idle(session)
        assert on.decisions() == [
            ("allow", "person", "turn"),
            ("allow", "rule", "turn"),
            ("deny", "person", ""),
        ]


async def test_an_allow_for_this_session_holds_in_its_next_turn_and_not_elsewhere(
    home: Path, project: Path
) -> None:
    async with stage(home, project, turns(STATUS, STATUS, STATUS)) as on:
        session = await on.session()
        await on.reply(await on.asked(), reply="always", scope="session")
        await on.idle(session)
        await on.client.prompt(session, "Again.")
        assert await on.statuses(session) == ["completed", "completed"]
        other = await on.session()
        await on.reply(await on.asked(other), reply="once")
        await on.idle(other)


async def test_an_allow_for_some_minutes_holds_everywhere_until_then(home: Path, project: Path) -> None:
    async with stage(home, project, turns(STATUS, STATUS, STATUS)) as on:
        session = await on.session()
        await on.reply(await on.asked(), reply="always", scope="minutes", minutes=5)
        await on.idle(session)
        other = (await on.client.create_session())["id"]
        await on.client.prompt(other, "Here too.")
        assert await on.statuses(other) == ["completed"]
        on.rows("UPDATE opencode_sessions_savedrule SET time_expires = 1")
        await on.client.prompt_async(other, "And now?")
        await on.reply(await on.asked(other), reply="once")
        await on.idle(other)
        assert [scope for _, _, scope in on.decisions()] == ["minutes", "minutes", "once"]


async def test_a_rule_that_is_revoked_allows_nothing_more_in_a_turn_that_runs(
    home: Path, project: Path
) -> None:
    make = ToolUse("bash", {"command": "make all"})
    script = [
        Turn(tools=[STATUS]),
        Turn(tools=[STATUS]),
        Turn(tools=[make]),
        Turn(tools=[LOG]),
        Turn(text="Done."),
    ]
    async with stage(home, project, script) as on:
        session = await on.session()
        await on.reply(await on.asked(), reply="always", patterns=["git *"])
        waits = await on.asked()
        assert waits["patterns"] == ["make all"]
        ((rule, uses),) = on.rows("SELECT id, uses FROM opencode_sessions_savedrule")
        assert uses == 1
        project_id = (await on.client.session(session))["projectID"]
        await on.client.http.post(f"/p/{project_id}/rules/{rule}/revoke")
        await on.reply(waits, reply="once")
        again = await on.asked()
        assert again["patterns"] == ["git log -1"]
        await on.reply(again, reply="once")
        await on.idle(session)
        assert ("revoke", "person", "project") in on.decisions()


async def test_a_new_rule_answers_what_else_waits_and_matches(home: Path, project: Path) -> None:
    played = Cast(status=turns(STATUS), log=turns(LOG), make=turns(ToolUse("bash", {"command": "make"})))
    async with stage(home, project, played) as on:
        one, two, three = [await on.session(word) for word in ("status", "log", "make")]
        asked = {request["sessionID"]: request for request in [await on.asked() for _ in range(3)]}
        await on.reply(asked[one], reply="always", patterns=["git *"])
        ended = {(await until(on.events, "session.idle")).session_id for _ in range(2)}
        assert ended == {one, two}
        assert [request["sessionID"] for request in await on.client.permissions()] == [three]
        assert on.decisions() == [("allow", "person", "project"), ("allow", "rule", "project")]


async def test_deny_beats_what_was_allowed_and_is_noted(home: Path, project: Path) -> None:
    rules = {"*": "allow", "bash": {"*": "ask", "git push *": "deny"}}
    push = ToolUse("bash", {"command": "git push origin"})
    async with stage(home, project, turns(STATUS, push), permission=rules) as on:
        session = await on.session()
        await on.reply(await on.asked(), reply="always", patterns=["*"])
        await on.idle(session)
        await on.client.prompt(session, "Push.")
        assert await on.statuses(session) == ["completed", "error"]
        assert on.decisions()[-1] == ("deny", "configuration", "")
        ((rule,),) = on.rows("SELECT rule FROM opencode_sessions_decision ORDER BY id DESC LIMIT 1")
        assert rule == "bash: git push *"


@pytest.mark.parametrize("pattern", ["*", "**", "?*", "* *"])
async def test_everything_does_not_lift_what_asks_about_something_narrow(
    home: Path, project: Path, pattern: str
) -> None:
    (project / ".env").write_text("SECRET=1\n")
    read = ToolUse("read", {"filePath": ".env"})
    async with stage(home, project, turns(read, read), permission={}) as on:
        session = await on.session()
        asked = await on.asked()
        assert (asked["permission"], asked["always"]) == ("read", ["*.env"])
        assert asked["metadata"]["rule"] == "read: *.env"
        await on.reply(asked, reply="always", patterns=[pattern])
        await on.idle(session)
        await on.client.prompt_async(session, "Again.")
        await on.reply(await on.asked(), reply="reject")
        await on.idle(session)


async def test_a_subagents_session_is_that_of_those_above(home: Path, project: Path) -> None:
    script = Cast(
        outer=[Turn(tools=[task("inner")]), Turn(tools=[LOG]), Turn(text="Done.")],
        inner=turns(STATUS),
    )
    agents = {"explore": {"mode": "subagent", "description": "Looks.", "permission": {"bash": "ask"}}}
    async with stage(home, project, script, agent=agents) as on:
        session = await on.session("outer")
        asked = await on.asked()
        assert asked["sessionID"] != session
        await on.reply(asked, reply="always", scope="session", patterns=["git *"])
        await on.idle(session)
        assert await on.statuses(session) == ["completed", "completed"]


async def test_an_answer_to_something_else_is_refused(home: Path, project: Path) -> None:
    async with stage(home, project, turns(STATUS)) as on:
        session = await on.session()
        asked = await on.asked()

        async def refused(status: int, path: str, **body: Any) -> None:
            with pytest.raises(httpx.HTTPStatusError) as error:
                await on.client.post(path, body)
            assert error.value.response.status_code == status

        reply = f"/permission/{asked['id']}/reply"
        await refused(409, reply, reply="once", hash="0" * 64)
        await refused(400, reply, reply="always", patterns=["npm *"])
        await refused(400, reply, reply="once", replacement={"a": "b"})
        await refused(400, reply, reply="always", scope="ever")
        await refused(400, reply, reply="always", scope="minutes", minutes=0)
        await refused(404, "/permission/per_unknown/reply", reply="once")
        await refused(404, f"/session/ses_other/permissions/{asked['id']}", response="once")
        assert [request["id"] for request in await on.client.permissions()] == [asked["id"]]
        assert on.decisions() == []
        await on.client.post(f"/session/{session}/permissions/{asked['id']}", {"response": "once"})
        await on.idle(session)
        await refused(404, reply, reply="once", hash=asked["hash"])


async def test_of_many_answers_at_once_one_is_taken(home: Path, project: Path) -> None:
    async with stage(home, project, turns(STATUS)) as on:
        session = await on.session()
        asked = await on.asked()
        words = ["once", "always", "reject"] * 4
        answers = await asyncio.gather(
            *(on.reply(asked, reply=word, hash=asked["hash"]) for word in words), return_exceptions=True
        )
        assert sum(answer is None for answer in answers) == 1
        await on.idle(session)
        assert len(on.decisions()) == 1


async def test_a_stop_is_noted_and_the_audit_stays(home: Path, project: Path) -> None:
    async with stage(home, project, turns(STATUS)) as on:
        session = await on.session()
        asked = await on.asked()
        await on.client.abort(session)
        await on.idle(session)
        with pytest.raises(httpx.HTTPStatusError):
            await on.reply(asked, reply="always")
        assert on.decisions() == [("cancel", "stop", "")]
        with pytest.raises(Exception, match="stays as it was written"):
            on.rows("DELETE FROM opencode_sessions_decision")

"""Turns of a person beyond what they may have at once wait, and say so; those of others do not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn, Wait
from tests.opencode_web.people.conftest import TEAM, Team
from tests.runtime.conftest import repository
from tests.server import Server, model_config


async def heard(lines: AsyncIterator[str], *words: str) -> dict[str, Any]:
    """The next event that has all of them."""
    async for line in lines:
        if line.startswith("data:") and all(word in line for word in words):
            found: dict[str, Any] = json.loads(line.removeprefix("data:"))
            return found
    raise AssertionError("the stream ended")


async def test_turns_of_a_person_wait_for_one_another(home: Path, tmp_path: Path) -> None:
    gated = [Turn(text=[f"{name} ", Wait(name), "ended"]) for name in ("first", "second")]
    async with OpenAIServer([*gated, Turn(text="Third.")]) as model:
        environ = {**TEAM, "OPENCODE_WEB_PERSON_TURNS": "1"}
        config = model_config(model.base_url)
        server = Server(home, repository(tmp_path / "one"), config, environ)
        await asyncio.to_thread(server.start)
        team = Team(server)
        try:
            ada, grace = team.token("Ada", "ask"), team.token("Grace", "ask")
            async with (
                team.client(ada) as hers,
                team.client(grace) as theirs,
                theirs.stream("GET", "/event") as events,
            ):
                lines = events.aiter_lines()
                await heard(lines, "server.connected")

                async def prompt(client: Any, text: str) -> dict[str, Any]:
                    made: dict[str, Any] = (await client.post("/session", json={"title": text})).json()
                    parts = [{"type": "text", "text": text}]
                    await client.post(f"/session/{made['id']}/prompt_async", json={"parts": parts})
                    return made

                first = await prompt(hers, "Of Ada")
                await heard(lines, "message.part.delta", "first ")
                waits = await prompt(hers, "Of Ada again")
                page = await hers.get(f"/p/{waits['projectID']}/s/{waits['id']}")
                assert "A person may have 1 turn at once here, and Ada has" in page.text
                await prompt(theirs, "Of Grace")
                await heard(lines, "message.part.delta", "second ")
                model.gate("first").open()
                await heard(lines, "session.idle", first["id"])
                await heard(lines, "session.idle", waits["id"])
                model.gate("second").open()
        finally:
            await asyncio.to_thread(server.stop)

"""Who prompts a turn pays for it by a key of their own, else by the project's, else the installation does."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.opencode_web.people.conftest import TEAM, Team
from tests.runtime.conftest import repository
from tests.server import Server, model_config


async def prompted(client: httpx.AsyncClient, text: str) -> str:
    """The page of a session in which a turn for it has ended."""
    made = (await client.post("/session", json={"title": text})).json()
    parts = [{"type": "text", "text": text}]
    answer = await client.post(f"/session/{made['id']}/message", json={"parts": parts})
    assert answer.status_code == 200, answer.text
    return (await client.get(f"/p/{made['projectID']}/s/{made['id']}")).text


async def test_the_key_of_who_prompts_is_used(home: Path, tmp_path: Path) -> None:
    async with OpenAIServer([Turn(text=f"Answer {n}.") for n in range(4)]) as model:
        config = model_config(model.base_url)
        options = config["provider"]["fake"]["options"]
        installations = options.pop("apiKey", "")
        config["provider"]["fake"]["env"] = ["LOOPBACK_KEY"]
        environ = {**TEAM, "LOOPBACK_KEY": installations or "the installation's"}
        server = Server(home, repository(tmp_path / "one"), config, environ)
        await asyncio.to_thread(server.start)
        team = Team(server)
        try:
            ada, grace = team.token("Ada", "ask"), team.token("Grace", "administer")
            async with team.client(ada) as hers, team.client(grace) as theirs:
                project = (await hers.get("/project/current")).json()["id"]
                key = {"provider": "fake", "key": "sk-of-ada-1234567890", "project": project}
                kept = await hers.post("/accounts/own/add", data=key)
                assert kept.status_code == 200, kept.text
                assert "ends in 7890" in kept.text
                assert "sk-of-ada" not in kept.text
                assert (await hers.post(f"/accounts/of/{project}/add", data=key)).status_code == 403
                assert "Ada’s key" in await prompted(hers, "One.")
                assert "’s key" not in await prompted(theirs, "Two.")
                shared = {**key, "key": "sk-of-project-0987654321"}
                assert (await theirs.post(f"/accounts/of/{project}/add", data=shared)).status_code == 200
                assert "the project’s key" in await prompted(theirs, "Three.")
                own = await hers.get(f"/accounts/own?project={project}")
                number = re.search(r'"id": "(\d+)"', own.text)
                assert number
                removed = {"id": number[1], "project": project}
                assert (await hers.post("/accounts/own/remove", data=removed)).status_code == 200
                assert "the project’s key" in await prompted(hers, "Four.")
            used = [request.headers["authorization"].removeprefix("Bearer ") for request in model.requests]
            asked = [one for one in used if one]
            assert asked == [
                "sk-of-ada-1234567890",
                environ["LOOPBACK_KEY"],
                "sk-of-project-0987654321",
                "sk-of-project-0987654321",
            ]
        finally:
            await asyncio.to_thread(server.stop)

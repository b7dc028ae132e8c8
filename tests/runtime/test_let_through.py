"""A denied call that a person lets through: exactly that one, once, also where the configuration denies."""

from __future__ import annotations

import re
from pathlib import Path

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.site.security.browser import browsing
from tests.runtime.asking import decisions
from tests.server import Server, model_config, parts_of, running


def touch(name: str, words: str) -> Turn:
    return Turn(tools=[ToolUse("bash", {"command": f"touch {name}", "description": words})])


async def test_it_goes_through_once(home: Path, project: Path) -> None:
    script = [
        *(touch("a", "First"), Turn(text="Denied.")),
        *(touch("b", "Another"), touch("a", "Again"), touch("a", "Once more"), Turn(text="Done.")),
    ]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission={"bash": {"*": "allow", "touch *": "deny"}})
        server = Server(home, project, config)
        async with running(server) as client, browsing(server) as browser:
            session = await client.create_session("named")
            await client.prompt(session["id"], "Go.")
            rules = f"/p/{session['projectID']}/rules"
            page = (await browser.get(rules)).text
            (address,) = re.findall(rf'hx-post="({rules}/decisions/\d+/pass)"', page)
            assert "goes through" in (await browser.change(address)).text
            assert (await browser.change(f"{rules}/decisions/99/pass")).status_code == 404
            await client.prompt(session["id"], "Once more.")
            parts = parts_of(await client.messages(session["id"]), "tool")
            assert [part["state"]["status"] for part in parts] == ["error", "error", "completed", "error"]
    assert (project / "a").exists()
    assert not (project / "b").exists()
    assert decisions(home) == [
        ("deny", "configuration", ""),
        ("pass", "person", "once"),
        ("deny", "configuration", ""),
        ("allow", "person", "pass"),
        ("deny", "configuration", ""),
    ]

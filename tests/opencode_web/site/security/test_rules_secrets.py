"""Rule 13 of docs/security.md, and where secrets must not go, in real turns with everything else allowed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import HttpError, ToolUse, Turn
from tests.opencode_web.site.security.browser import browsing
from tests.server import PASSWORD, PATIENCE, Server, model_config, parts_of, running, serving, until

KEY = "sk-a-key-that-nobody-may-see-0123456789"


# Rule 13


@pytest.mark.parametrize(
    "use",
    [
        ToolUse("write", {"filePath": "opencode.json", "content": "{}"}),
        ToolUse("write", {"filePath": ".git/hooks/pre-commit", "content": "x"}),
        ToolUse("bash", {"command": "cd . && echo '{}' >> ./opencode.json"}),
        ToolUse("bash", {"command": "mkdir -p .opencode/agent"}),
        ToolUse("bash", {"command": "echo '{}' | tee ~/.config/opencode/opencode.json"}),
        ToolUse("write", {"filePath": "~/.config/opencode/opencode.json", "content": "{}"}),
        ToolUse("bash", {"command": "cp hello.py ~/.local/share/opencode-web/secret"}),
    ],
    ids=lambda use: str(next(iter(use.arguments.values()))),
)
async def test_rule_13_with_everything_allowed_its_own_configuration_is_asked_for(
    home: Path, project: Path, use: ToolUse
) -> None:
    secret = home / ".local/share/opencode-web/secret"
    script = [Turn(tools=[use])]
    async with serving(home, project, script) as (client, _), client.events() as events:
        before = secret.read_bytes()
        allowed = [{"permission": "*", "pattern": "*", "action": "allow"}]
        session = await client.post("/session", {"title": "named", "permission": allowed})
        await client.prompt_async(session["id"], "Go.")
        asked = await until(events, "permission.asked")
        assert asked.properties["permission"] == "edit"
        assert "*" not in asked.properties["always"]
        await client.reply(asked.properties["id"], "reject")
        await until(events, "session.idle")
        assert secret.read_bytes() == before
    assert not (project / "opencode.json").exists()
    assert not (project / ".opencode").exists()
    assert not (home / ".config/opencode/opencode.json").exists()


async def test_rule_13_a_denial_outlives_every_approval(home: Path, project: Path) -> None:
    touch = ToolUse("bash", {"command": "touch made && rm hello.py"})
    ask = ToolUse("bash", {"command": "rm other"})
    script = [Turn(tools=[ask]), Turn(text="Done."), Turn(tools=[touch]), Turn(text="Denied.")]
    rules = {"*": "allow", "bash": {"*": "ask", "rm hello*": "deny"}}
    async with serving(home, project, script, permission=rules) as (client, _), client.events() as events:
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "Go.")
        await client.reply((await until(events, "permission.asked")).properties["id"], "always")
        await until(events, "session.idle")
        async with asyncio.timeout(PATIENCE):
            await client.prompt(session["id"], "Again.")
        last = parts_of(await client.messages(session["id"]), "tool")[-1]
        assert last["state"]["status"] == "error"
    assert (project / "hello.py").exists()
    assert not (project / "made").exists()


# Secrets


async def test_no_secret_leaves_by_a_log_an_answer_an_event_or_a_command(home: Path, project: Path) -> None:
    echo = HttpError(401, message=f"Incorrect API key provided: {KEY}")
    script = [
        Turn(tools=[ToolUse("bash", {"command": "env; printenv; declare -p"})]),
        Turn(text="Done."),
        Turn(fault=echo),
    ]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url)
        config["provider"]["fake"]["options"] |= {"apiKey": KEY, "headers": {"X-Mine": f"{KEY}-header"}}
        config["mcp"] = {"m": {"type": "local", "command": ["x"], "environment": {"MINE": f"{KEY}-mcp"}}}
        remote = {"type": "remote", "url": "http://127.0.0.1:9/"}
        config["mcp"]["r"] = remote | {"headers": {"A": f"{KEY}-header"}}
        config["agent"] = {"helper": {"options": {"access_token": f"{KEY}-agent"}, "mode": [KEY]}}
        server = Server(home, project, config)
        async with running(server) as client, browsing(server) as browser, client.events() as events:
            kept = {"type": "api", "key": f"{KEY}-kept"}
            await client.http.put("/auth/other", json=kept)
            proof = {"Origin": browser.origin, "X-CSRF-Token": browser.token}
            refused = await browser.put("/auth/other", json=kept | {"key": [KEY]}, headers=proof)
            assert refused.status_code == 400
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Env.")
            await client.prompt_async(session["id"], "Fail.")
            failed = await until(events, "session.error")
            base = f"/p/{session['projectID']}/s/{session['id']}"
            asked = f"session={session['id']}"
            paths = ("/config", "/global/config", "/config/providers", "/provider", "/agent", "/mcp",
                     "/api/model", "/api/provider", "/api/agent", "/api/integration",
                     "/provider/auth", "/accounts",
                     f"/session/{session['id']}/message", base, "/", f"{base}/review",
                     f"/pickers/status?{asked}",
                     f"/pickers/options?{asked}", f"/pickers/choice?{asked}")  # fmt: skip
            said = [refused.text, *[(await browser.get(path)).text for path in paths]]
            said += [json.dumps(dict(failed.properties)), server.log()]
            tool = parts_of(await client.messages(session["id"]), "tool")[0]
            assert "HOME=" in tool["state"]["output"]
            said.append(json.dumps(tool))
            for file in (server.data / "log").iterdir():
                said.append(file.read_text())
        token = server.launch_url.partition("token=")[2]
        secret = (server.data / "secret").read_text().strip()
        for text in said:
            for word in (KEY, PASSWORD, token, secret):
                assert word not in text, text[max(0, text.find(word) - 200) :][:300]

"""`/session/{id}/share` and the page behind it, on the real server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

from tests.loopback.script import ToolUse, Turn
from tests.protocol.conftest import repository
from tests.protocol.served import Served
from tests.server import PASSWORD, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRETS = ("key-of-the-provider", "Header4Provider", "value-of-a-header", "mcp+value=", "lsp.value.x")
CONFIGURED = {
    "provider": {
        "mine": {
            "options": {"apiKey": SECRETS[0], "headers": {"X-Mine": f"Bearer {SECRETS[1]}"}},
            "models": {"m": {"headers": {"X-Key": SECRETS[2], "Accept": "application/json"}}},
        }
    },
    "mcp": {
        "local": {"type": "local", "command": ["x"], "environment": {"A": SECRETS[3], "MODE": "production"}}
    },
    "lsp": {"x": {"command": ["x"], "env": {"B": SECRETS[4]}}},
}
HOSTILE = "</title><script>pwned()</script>"


def stranger(served: Served) -> httpx.AsyncClient:
    """Somebody without credentials."""
    return httpx.AsyncClient(base_url=served.server.url, timeout=30)


async def shared(served: Served, session: str) -> str:
    url = (await served.post(f"/session/{session}/share"))["share"]["url"]
    base, _, token = url.rpartition("/s/")
    assert base == served.server.url
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    return str(url)


async def test_share_and_unshare_are_on_the_wire_and_in_the_events(served: Served) -> None:
    session = await served.session()
    async with served.client.events() as events:
        url = await shared(served, session)
        async for event in events:
            if event.type == "session.updated" and event.properties["sessionID"] == session:
                assert event.properties["info"]["share"] == {"url": url}
                break
    assert await shared(served, session) == url, "sharing again gives the same address"
    assert (await served.get(f"/session/{session}"))["share"] == {"url": url}
    assert "share" not in await served.ask("DELETE", f"/session/{session}/share")
    assert "share" not in await served.get(f"/session/{session}")
    again = await shared(served, session)
    assert again != url


async def test_an_unknown_session_is_404(served: Served) -> None:
    for method in ("POST", "DELETE"):
        await served.ask(method, "/session/ses_nothing/share", status=404)


async def test_a_stranger_reads_the_conversation_without_secrets(served: Served) -> None:
    secret = "-".join(["sk", "ant", "a1b2c3d4" * 5])
    session = await served.session(HOSTILE)
    command = f"echo key {secret} in $HOME"
    served.plays(Turn(tools=(ToolUse("bash", {"command": command}),)), Turn(text="**Done** with it."))
    await served.post(f"/session/{session}/message", {"parts": [{"type": "text", "text": f"Say {secret}"}]})
    url = await shared(served, session)
    async with stranger(served) as client:
        answer = await client.get(url)
        head = await client.head(url)
    text = answer.text
    assert answer.status_code == 200
    assert "<strong>Done</strong> with it." in text
    assert "[redacted]" in text
    assert secret not in text
    assert str(served.server.home) not in text
    assert "<script" not in text
    assert (head.status_code, head.content) == (200, b"")
    assert not answer.cookies


async def test_neither_the_configuration_s_secrets_nor_the_password_are_shown(served: Served) -> None:
    """Values of a project's file that waits for trust, and of what this server was given."""
    folder = served.server.home / "configured"
    folder.mkdir()
    project = repository(folder)
    (project / "opencode.json").write_text(json.dumps(CONFIGURED))
    told = " · ".join((*SECRETS, PASSWORD, "production", "application/json"))
    session = (await served.post("/session", {"title": "named"}, directory=project))["id"]
    await served.post(
        f"/session/{session}/message",
        {"noReply": True, "parts": [{"type": "text", "text": told}]},
        departs="without an answer it is the prompt",
        directory=project,
    )
    url = await shared(served, session)
    async with stranger(served) as client:
        text = (await client.get(url)).text
    assert "production · application/json" in text
    for secret in (*SECRETS, PASSWORD):
        assert secret not in text


async def test_its_headers_allow_nothing(served: Served) -> None:
    url = await shared(served, await served.session())
    async with stranger(served) as client:
        headers = (await client.get(url)).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "sandbox" in policy
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "noindex" in headers["x-robots-tag"]
    assert headers["x-frame-options"] == "DENY"


async def test_a_revoked_deleted_or_archived_session_is_gone_at_once(served: Served) -> None:
    session = await served.session()
    url = await shared(served, session)
    async with stranger(served) as client:
        await served.ask("PATCH", f"/session/{session}", {"time": {"archived": 1}})
        assert (await client.get(url)).status_code == 404
        await served.ask("PATCH", f"/session/{session}", {"time": {"archived": 0}})
        assert (await client.get(url)).status_code == 200
        await served.ask("DELETE", f"/session/{session}/share")
        assert (await client.get(url)).status_code == 404
        url = await shared(served, session)
        assert (await client.get(url)).status_code == 200
        await served.ask("DELETE", f"/session/{session}")
        gone = await client.get(url)
        assert gone.status_code == 404
        assert "Nothing is shared here" in gone.text


async def test_the_address_opens_nothing_else(served: Served) -> None:
    session = await served.session()
    url = await shared(served, session)
    async with stranger(served) as client:
        for method in ("POST", "PUT", "DELETE"):
            assert (await client.request(method, url)).status_code in (401, 403)
        for path in (f"{url}/..%2f..%2fsession", f"{url}/message", f"/session/{session}", f"{url}%00"):
            assert (await client.get(path, headers={"Accept": "*/*"})).status_code == 401


def places(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return tmp_path / "home", repository(tmp_path / "project")


async def test_auto_shares_new_sessions_with_their_subagents(tmp_path: Path) -> None:
    errand = {"description": "Look", "prompt": "Look around", "subagent_type": "general"}
    turns = iter([Turn(tools=(ToolUse("task", errand),)), Turn(text="Found."), Turn(text="Done.")])
    async with serving(*places(tmp_path), lambda _: next(turns), share="auto") as (client, _):
        session = await client.create_session("Shared")
        url, path = session["share"]["url"], f"/session/{session['id']}"
        await client.http.post(f"{path}/message", json={"parts": [{"type": "text", "text": "Go"}]})
        (child,) = (await client.http.get(f"{path}/children")).json()
        assert "share" not in child
        async with httpx.AsyncClient() as stranger:
            page = (await stranger.get(url)).text
        assert "Found." in page
        assert f'<section id="{child["id"]}" class="subagent"' in page


async def test_disabled_refuses_and_closes_what_was_shared(tmp_path: Path) -> None:
    home, project = places(tmp_path)
    async with (
        serving(home, project, lambda _: Turn(text="Hi")) as (client, _),
        httpx.AsyncClient() as stranger,
    ):
        session = await client.create_session("Shared")
        assert "share" not in session
        path = f"/session/{session['id']}/share"
        url = (await client.http.post(path)).json()["share"]["url"]
        assert (await stranger.get(url)).status_code == 200
        config = home / ".config" / "opencode" / "opencode.json"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('{"share": "disabled"}')
        assert (await stranger.get(url)).status_code == 404
        refused = await stranger.post(f"{client.http.base_url}{path}", auth=("opencode", PASSWORD))
        assert refused.status_code == 400
        assert "disabled" in refused.json()["data"]["message"]

"""Servers whose every word is hostile: what they say is shown, kept and sent on, and neither acts nor
breaks anything."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import httpx

from agents.web.mcp.listing import place_id
from bench.client import Client
from sessions.core.store.problems import LONGEST
from tests.loopback.script import ToolUse, Turn
from tests.runtime.asking import rows
from tests.runtime.servers import ready
from tests.server import parts_of, serving, until

PROGRAM = Path(__file__).with_name("hostile_servers.py")
ACTS = re.compile(r"<script>alert|<img src=x|[\0\x1b\x07\u202e\u2066]")
"""Markup, and characters that a page would obey."""
NAMED = re.compile(r"hx-vals='[^']*'")
"""What a page sends back to name something of a server, and does not show."""
LARGEST = 2_000_000
URIS = ("javascript:alert(1)", "file:///etc/passwd")


def configured() -> dict[str, Any]:
    command = [sys.executable, "-I", "-S", str(PROGRAM)]
    return {
        "mcp": {"evil": {"type": "local", "command": [*command, "mcp"]}},
        "lsp": {"evil": {"command": [*command, "language"], "extensions": [".py"]}},
    }


class Visitor:
    """Looks at pages and API answers, and says what is wrong with each."""

    def __init__(self, client: Client) -> None:
        self._http = client.http
        self.faults: list[str] = []

    async def page(self, path: str, /, **query: str) -> str:
        answer = await self._get(path, **query)
        text = NAMED.sub("", answer.text)
        if found := ACTS.search(text):
            self.faults.append(f"{path}: {text[max(0, found.start() - 60) : found.end() + 60]!r}")
        return answer.text

    async def api(self, path: str, /, **query: str) -> Any:
        return (await self._get(path, **query)).json()

    async def _get(self, path: str, /, **query: str) -> httpx.Response:
        try:
            answer = await self._http.get(path, params=query)
        except httpx.HTTPStatusError as error:
            self.faults.append(f"{path}: {error.response.status_code}")
            return error.response
        if len(answer.text) > LARGEST:
            self.faults.append(f"{path}: {len(answer.text):,} characters")
        return answer


async def test_nothing_of_them_acts_or_breaks_what_shows_it(home: Path, project: Path) -> None:
    uses = [ToolUse(f"evil_{name}", {}) for name in ("says", "fails")]
    edit = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'other'"}
    find = {
        "operation": "workspaceSymbol",
        "query": "hello",
        "filePath": "hello.py",
        "line": 1,
        "character": 1,
    }
    uses += [ToolUse("edit", edit), ToolUse("lsp", find), ToolUse("evil_asks", {})]
    script = [Turn(tools=uses), Turn(text="Done.")]
    async with (
        serving(home, project, script, **configured()) as (client, model),
        client.events() as events,
    ):
        await ready(client, "evil_says")
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "Use them.")
        asked = (await until(events, "question.asked")).properties
        assert "javascript" not in str(asked)
        visitor = Visitor(client)
        page = f"/p/{session['projectID']}/s/{session['id']}"
        await visitor.page(page)
        await client.post(f"/question/{asked['id']}/reply", {"answers": [["yes"]]})
        await until(events, "session.idle")
        await _look(visitor, page, session["projectID"])
        parts = parts_of(await client.messages(session["id"]), "tool")
        states = [part["state"]["status"] for part in parts]
        assert states == ["completed", "error", "completed", "completed", "completed"]
        assert all(len(str(request.body)) < LARGEST for request in model.requests)
        assert not visitor.faults, "\n".join(visitor.faults)
        kept = rows(home, "SELECT path, problems FROM opencode_sessions_fileproblems WHERE problems != '[]'")
        assert {path for path, _ in kept} == {"hello.py"}
        assert all(len(problems) < 20 * 6 * LONGEST for _, problems in kept)


async def _look(visitor: Visitor, page: str, project: str) -> None:
    """At all that shows something of a server."""
    place, server = {"project": project}, {"project": project, "name": "evil"}
    await visitor.page(page)
    await visitor.page(f"{page}/review")
    assert "problem-notes" in await visitor.page(f"{page}/review/file", path="hello.py", all="1")
    for path in ("servers", "servers/badge", "servers/mcp/list", "servers/languages"):
        assert "evil" in await visitor.page(f"/{path}", **place) or path == "servers/badge"
    assert place_id("evil") in await visitor.page("/servers/mcp/detail", **server)
    await visitor.page("/servers/mcp/log", **server)
    await visitor.page("/servers/mcp/schema", tool="says", **server)
    for uri in URIS:
        await visitor.page("/servers/mcp/resource", uri=uri, **server)
    listed = await visitor.page("/servers/languages", **place)
    for root in set(re.findall(r'root=([^"&]+)', listed)):
        await visitor.page("/servers/languages/log", row="evil", root=root, **place)
    assert "alert" in await visitor.page("/pickers/problems", **place)
    await visitor.page("/pickers/problems/count", **place)
    assert "javascript" in await visitor.page("/pickers/resources", q="evil", **place)
    assert "hello" in await visitor.page("/pickers/symbols", q="hello", **place)
    assert "evil" in await visitor.page("/pickers/commands", q="evil", **place)
    for path in ("/mcp", "/lsp", "/command", "/experimental/resource", "/experimental/tool/ids"):
        assert await visitor.api(path)
    await visitor.api("/experimental/tool", provider="fake", model="fake")
    found = await visitor.api("/find/symbol", query="hello")
    assert found
    uris = {one["location"]["uri"].partition("/project/")[2] for one in found}
    assert uris == {"hello.py", ""}  # a lone surrogate is read as `?`, which begins a query

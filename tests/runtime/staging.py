"""What a person does in review mode, through the real server's pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from bench.client import Client
from sessions.changes.diffs.hunks import hunks
from tests.loopback.script import ToolUse
from tests.server import parts_of

HEADERS = {"HX-Request": "true"}
LINES = "".join(f"line {number}\n" for number in range(1, 31))
EDITED = LINES.replace("line 2\n", "line two\n").replace("line 28\n", "line twenty-eight\n")


class Page:
    """What a person does to a session in the browser."""

    def __init__(self, client: Client, session: Mapping[str, Any]) -> None:
        self._http = client.http
        self.id = str(session["id"])
        self._base = f"/p/{session['projectID']}/s/{session['id']}"

    async def post(self, what: str, **form: Any) -> httpx.Response:
        """A verdict is on what the page shows at that moment, unless `drawn` says what it showed."""
        if what.startswith("staging/") and "drawn" not in form:
            form["drawn"] = await self.drawn()
        return await self._http.post(f"{self._base}/{what}", data=form, headers=HEADERS)

    async def refused(self, what: str, **form: Any) -> str:
        with pytest.raises(httpx.HTTPStatusError) as refusal:
            await self.post(what, **form)
        assert refusal.value.response.status_code == 422
        return refusal.value.response.text

    async def drawn(self) -> str:
        """What the buttons above the prompt send."""
        found = re.search(r'name="drawn" value="([^"]*)"', await self.shown())
        return found[1] if found else ""

    async def listed(self) -> str:
        return (await self._http.get(f"{self._base}/staging/files")).text

    async def shown(self) -> str:
        return (await self._http.get(self._base)).text


async def opened(client: Client) -> Page:
    """A session in review mode."""
    session = await client.create_session(title="named")
    answer = await client.http.patch(f"/session/{session['id']}", json={"staging": True})
    assert answer.json()["staging"] is True
    return Page(client, session)


def write(path: str, content: str) -> ToolUse:
    return ToolUse("write", {"filePath": path, "content": content})


async def outputs(client: Client, session: str) -> list[str]:
    """What the tools of a session told the model, in order."""
    found = parts_of(await client.messages(session), "tool")
    return [part["state"].get("output", part["state"].get("error", "")) for part in found]


def keys(before: str, after: str) -> list[str]:
    return [hunk.key for hunk in hunks(before.encode(), after.encode()).hunks]

"""One real server that protocol tests share, asked over HTTP, every answer held against the document."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, Turn
from tests.protocol.heard import Heard
from tests.protocol.reference import Reference
from tests.server import PASSWORD, Server

Json = dict[str, Any]


@dataclass
class Script:
    """What the model answers: the turns that were set, in order, then "Done."."""

    turns: deque[Turn] = field(default_factory=deque)

    def __call__(self, _: Body) -> Turn:
        return self.turns.popleft() if self.turns else Turn(text="Done.")


class Served:
    """`server` runs on a home and a repository of its own; `client` is for prompts and events."""

    def __init__(
        self, server: Server, client: Client, model: OpenAIServer, script: Script, reference: Reference
    ) -> None:
        self.server = server
        self.model = model
        self.client = client
        self.reference = reference
        self.heard = Heard(reference)
        """Every event since the server began."""
        self._script = script
        self.http = httpx.AsyncClient(base_url=server.url, auth=("opencode", PASSWORD), timeout=30)

    def plays(self, *turns: Turn) -> None:
        """What the model answers next; what was left of before is dropped. Titles are answered apart."""
        self._script.turns = deque(turns)

    async def opens(self, gate: str) -> None:
        """Let the model go on that stands at a gate (`Wait`); a gate stays open."""
        base = self.server.config["provider"]["fake"]["options"]["baseURL"].removesuffix("/v1")
        (await self.http.post(f"{base}/_gate/{gate}")).raise_for_status()

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        /,
        *,
        status: int = 200,
        departs: str = "",
        **query: Any,
    ) -> Any:
        """The JSON of an answer (None where there is none, the text of what is no JSON).

        Fails for another status and for an answer that the document does not have; `departs` says why one
        may differ from it: OpenCode's own does, or the operation is ours.
        """
        given = {"json": body} if body is not None else {}
        answer = await self.http.request(method, path, params=query or None, **given)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        found = _body(answer)
        if not departs:
            problems = self.reference.problems(method, path, status, found)
            assert not problems, f"{method} {path}: {problems[:5]} in {answer.text[:500]}"
        return found

    async def get(self, path: str, /, **query: Any) -> Any:
        return await self.ask("GET", path, **query)

    async def post(self, path: str, body: Any = None, /, **options: Any) -> Any:
        return await self.ask("POST", path, {} if body is None else body, **options)

    async def session(self, title: str = "A session") -> str:
        return str((await self.post("/session", {"title": title}))["id"])


def _body(answer: httpx.Response) -> Any:
    if not answer.content:
        return None
    kind = answer.headers.get("content-type", "")
    return json.loads(answer.content) if kind.startswith("application/json") else answer.text

"""A small client of OpenCode's HTTP protocol; it drives our server and OpenCode alike, in bench and tests."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, Self

import httpx

USER = "opencode"
NO_TIMEOUT = httpx.Timeout(30.0, read=None)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of `/event`; `received_ns` is `time.time_ns()` when its bytes came."""

    type: str
    properties: Mapping[str, Any]
    received_ns: int

    @property
    def session_id(self) -> str:
        return str(self.properties.get("sessionID", ""))


class Client:
    """Raises httpx.HTTPStatusError for every answer that is no success."""

    def __init__(self, url: str, password: str, *, timeout: float = 120.0) -> None:
        self.password = password
        self.http = httpx.AsyncClient(
            base_url=url,
            auth=(USER, password),
            timeout=timeout,
            trust_env=False,
            event_hooks={"response": [_raise_for_status]},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def get(self, path: str, **query: str | int) -> Any:
        return (await self.http.get(path, params=query)).json()

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON of the answer, None where there is none (204)."""
        answer = await self.http.post(path, json=body or {})
        return answer.json() if answer.content else None

    async def health(self) -> Json:
        health: Json = await self.get("/global/health")
        return health

    async def create_session(self, title: str | None = None) -> Json:
        session: Json = await self.post("/session", {"title": title} if title else {})
        return session

    async def sessions(self, limit: int = 100) -> list[Json]:
        sessions: list[Json] = await self.get("/session", limit=limit)
        return sessions

    async def session(self, session_id: str) -> Json:
        session: Json = await self.get(f"/session/{session_id}")
        return session

    async def delete_session(self, session_id: str) -> None:
        await self.http.delete(f"/session/{session_id}")

    async def messages(self, session_id: str) -> list[Json]:
        """`[{"info": …, "parts": […]}]`, oldest first."""
        messages: list[Json] = await self.get(f"/session/{session_id}/message")
        return messages

    async def prompt(self, session_id: str, text: str, **fields: Any) -> Json:
        """Run a whole turn; the assistant's last message. `fields` (agent, model, …) go into the body."""
        message: Json = await self.post(f"/session/{session_id}/message", _prompt(text, fields))
        return message

    async def prompt_async(self, session_id: str, text: str, **fields: Any) -> None:
        """Admit a prompt and return; follow the turn through `events`."""
        await self.post(f"/session/{session_id}/prompt_async", _prompt(text, fields))

    async def abort(self, session_id: str) -> None:
        await self.post(f"/session/{session_id}/abort")

    async def status(self) -> dict[str, Json]:
        """The sessions that are not idle, by id."""
        status: dict[str, Json] = await self.get("/session/status")
        return status

    async def diff(self, session_id: str, message_id: str) -> list[Json]:
        diffs: list[Json] = await self.get(f"/session/{session_id}/diff", messageID=message_id)
        return diffs

    async def revert(self, session_id: str, message_id: str) -> Json:
        session: Json = await self.post(f"/session/{session_id}/revert", {"messageID": message_id})
        return session

    async def unrevert(self, session_id: str) -> Json:
        session: Json = await self.post(f"/session/{session_id}/unrevert")
        return session

    async def permissions(self) -> list[Json]:
        """The requests that wait for an answer."""
        requests: list[Json] = await self.get("/permission")
        return requests

    async def reply(
        self, request_id: str, reply: Literal["once", "always", "reject"], message: str | None = None
    ) -> None:
        body = {"reply": reply, "message": message} if message else {"reply": reply}
        await self.post(f"/permission/{request_id}/reply", body)

    async def find(self, pattern: str) -> list[Json]:
        """Lines of the project's files that match a regular expression."""
        matches: list[Json] = await self.get("/find", pattern=pattern)
        return matches

    async def find_files(self, query: str) -> list[str]:
        paths: list[str] = await self.get("/find/file", query=query)
        return paths

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[Event]]:
        """All events from now on; the subscription stands when the block is entered."""
        async with self.http.stream("GET", "/event", timeout=NO_TIMEOUT) as response:
            events = _read_events(response)
            await anext(events)
            yield events


async def _read_events(response: httpx.Response) -> AsyncIterator[Event]:
    """Frames are ended by an empty line; comments and fields other than `data` are passed over."""
    rest = b""
    async for data in response.aiter_raw():
        received = time.time_ns()
        *frames, rest = (rest + data).replace(b"\r\n", b"\n").split(b"\n\n")
        for frame in frames:
            text = b"".join(line[5:] for line in frame.split(b"\n") if line.startswith(b"data:"))
            if text:
                event = json.loads(text)
                yield Event(event["type"], event.get("properties", {}), received)


async def _raise_for_status(response: httpx.Response) -> None:
    if response.is_error:
        await response.aread()
        response.raise_for_status()


def _prompt(text: str, fields: Mapping[str, Any]) -> Json:
    return {**fields, "parts": [{"type": "text", "text": text}]}

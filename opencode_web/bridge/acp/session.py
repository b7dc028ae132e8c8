"""One session that an editor has open: what happens in it is told, what it asks handed on, its turns run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

from acp.exceptions import RequestError
from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    PromptResponse,
    SessionInfoUpdate,
    StopReason,
    UnstructuredCommandInput,
    Usage,
)

from opencode_web.bridge.acp import permissions
from opencode_web.bridge.acp.calls import asked
from opencode_web.bridge.acp.choices import Choices
from opencode_web.bridge.acp.content import Block, Part, parts_of
from opencode_web.bridge.acp.editor import Editor, Update
from opencode_web.bridge.acp.transcript import Transcript, plan, usage
from opencode_web.bridge.call import Call
from opencode_web.bridge.formatting.messages import error_text
from opencode_web.bridge.remote.client import Event
from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.watch import REASON_SECONDS, abort, family
from sessions.core.ids import ascending

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]

STREAM_TRIES = 3
"""How often in a row a stream of events may be lost before it hears anything."""
LOOK_BACK = 30
"""Messages that are read at first to find what was missed."""
COMPACT = "compact"
ENDS: Mapping[str, StopReason] = {
    "MessageAbortedError": "cancelled",
    "MessageOutputLengthError": "max_tokens",
    "ContentFilterError": "refusal",
}
"""Errors of an answer that are no failures to an editor."""
FINISHES: Mapping[str, StopReason] = {"length": "max_tokens", "content-filter": "refusal"}
AUTH_FAILED = "ProviderAuthError"
AUTH_REQUIRED = -32000
INTERNAL_ERROR = -32603


class EditorSession:
    """`call` is at the session's folder."""

    def __init__(self, editor: Editor, call: Call, info: Json, choices: Choices) -> None:
        self.id = str(info["id"])
        self.directory = str(info["directory"])
        self.choices = choices
        self._editor = editor
        self._call = call
        self._title = info["title"]
        self._spent = float(info.get("cost") or 0)
        self._transcript = Transcript(self.directory)
        self._telling = asyncio.Lock()
        self._heard = asyncio.Event()
        """Set while nothing that happens is missed."""
        self._following: asyncio.Task[None] | None = None
        self._family = {self.id}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        """What the editor is asked, by the id of the request."""
        self._commands: dict[str, Json] = {}
        self._stops = 0
        """How often the editor has cancelled."""
        self._error: asyncio.Future[Json] = asyncio.get_running_loop().create_future()

    async def replay(self) -> None:
        """Tell the whole conversation."""
        await self._tell(self._transcript.history(await self._call.get(f"/session/{self.id}/message")))
        if todos := await self._call.get(f"/session/{self.id}/todo"):
            await self._editor.update(self.id, plan(todos))

    async def skip(self) -> None:
        """The editor has the conversation already."""
        self._transcript.skip(await self._call.get(f"/session/{self.id}/message"))

    def follow(self) -> None:
        """From now on the editor is told what happens, by whomever it was begun."""
        if self._following is None or self._following.done():
            self._heard.clear()
            self._following = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """Tell and ask no more. What runs goes on."""
        tasks = [task for task in (self._following, *self._waiting.values()) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def prompt(self, blocks: Sequence[Block]) -> PromptResponse:
        """Run a turn. Raises RequestError when it fails; a turn that nobody waits for any more is stopped."""
        stops = self._stops
        # A server that has gone is found again by what may be repeated, which a prompt may not.
        await self._changed(await self._call.get(f"/session/{self.id}"))
        await self._listen()
        message_id = ascending("msg")
        self._transcript.own(message_id)
        self._error = asyncio.get_running_loop().create_future()
        reads = self._editor.abilities.fs and self._editor.abilities.fs.read_text_file
        parts = await parts_of(blocks, self._text if reads else None)
        if self._stops != stops:
            return PromptResponse(stop_reason="cancelled")
        path, body = self._operation(parts, message_id)
        try:
            answer = await self._call.request("POST", f"/session/{self.id}/{path}", body=body, seconds=None)
        except asyncio.CancelledError:
            await abort(self._call, self.id)
            raise
        await self._catch_up()
        stopped = self._stops != stops
        info = answer["info"] if isinstance(answer, dict) else {}
        if not stopped and path != "summarize" and info.get("role") != "assistant":
            await asyncio.wait({self._error}, timeout=REASON_SECONDS)
            if self._error.done():
                raise failure(self._error.result())
        error = info.get("error")
        if error and error["name"] not in ENDS and not stopped:
            raise failure(error)
        if used := usage(info, self.choices.context, self._spent):
            await self._editor.update(self.id, used)
        return PromptResponse(stop_reason=reason(info, stopped), usage=tokens(info))

    async def stop(self) -> None:
        """End the turn that runs."""
        self._stops += 1
        await self._call.post(f"/session/{self.id}/abort")

    async def _tell_commands(self) -> None:
        found = await self._call.get("/command")
        self._commands = {command["name"]: command for command in found}
        known = [
            AvailableCommand(
                name=command["name"],
                description=command.get("description") or "",
                input=_hint(command),
            )
            for command in found
        ]
        if COMPACT not in self._commands:
            known.append(AvailableCommand(name=COMPACT, description="sum up the conversation"))
        update = AvailableCommandsUpdate(session_update="available_commands_update", available_commands=known)
        await self._editor.update(self.id, update)

    def _operation(self, parts: list[Part], message_id: str) -> tuple[str, dict[str, Any]]:
        """The last segment of the operation's path, and its body. A prompt that begins with the name of a
        command calls it."""
        texts = [part["text"] for part in parts if part["type"] == "text" and not part.get("synthetic")]
        text = "\n".join(texts).strip()
        name, given = (*text.removeprefix("/").split(maxsplit=1), "", "")[:2]
        choice = self.choices.body
        if text.startswith("/") and name in self._commands:
            model = choice.pop("model", None)
            if model:
                choice["model"] = f"{model['providerID']}/{model['modelID']}"
            files = [part for part in parts if part["type"] == "file"]
            called = {"command": name, "arguments": given, "parts": files, "messageID": message_id}
            return "command", {**choice, **called}
        if text == f"/{COMPACT}":
            provider, _, model = self.choices.model.partition("/")
            return "summarize", {"providerID": provider, "modelID": model}
        return "message", {**choice, "parts": parts, "messageID": message_id}

    async def _text(self, path: str) -> str:
        return await self._editor.text(self.id, path)

    async def _tell(self, updates: Iterable[Update]) -> None:
        """One after the other: a reader of rows may come between two events."""
        async with self._telling:
            for update in updates:
                await self._editor.update(self.id, update)

    async def _listen(self) -> None:
        """Return when the stream of events is open. Raises what it ended with."""
        self.follow()
        assert self._following is not None
        hearing = asyncio.create_task(self._heard.wait())
        await asyncio.wait({hearing, self._following}, return_when=asyncio.FIRST_COMPLETED)
        hearing.cancel()
        if self._following.done():
            self._following.result()

    async def _follow(self) -> None:
        tries = 0
        while True:
            try:
                if not self._commands:
                    await self._tell_commands()
                async with aclosing(self._call.events()) as events:
                    async for event in events:
                        tries = 0
                        await self._hear(event)
            except ConnectionError:  # the editor has gone
                return
            except RemoteError as error:
                self._heard.clear()
                tries += 1
                if error.category != "unreachable" or tries >= STREAM_TRIES:
                    logger.warning("session %s is no longer followed: %s", self.id, error)
                    raise
                await self._call.get(f"/session/{self.id}")  # where the server has gone, it is found again

    async def _hear(self, event: Event) -> None:
        given = event.properties
        if event.type == "server.connected":
            await self._begin()
        elif event.type == "session.created" and given["info"].get("parentID") in self._family:
            self._family.add(given["info"]["id"])
        elif event.type == "session.updated" and given["info"]["id"] == self.id:
            await self._changed(given["info"])
        elif event.session_id in self._family and (handle := self._requests.get(event.type)):
            handle(self, given)
        elif (
            event.session_id == self.id
            or (given.get("part") or given.get("info") or {}).get("sessionID") == self.id
        ):
            await self._happened(event)

    async def _happened(self, event: Event) -> None:
        given = event.properties
        match event.type:
            case "message.updated":
                self._transcript.message(given["info"])
            case "message.part.updated":
                await self._tell(self._transcript.part(given["part"]))
            case "message.part.delta":
                await self._tell(self._transcript.delta(given))
            case "todo.updated":
                await self._editor.update(self.id, plan(given["todos"]))
            case "session.error" if not self._error.done():
                self._error.set_result(given.get("error") or {})

    async def _begin(self) -> None:
        """What was missed before this stream of events."""
        await self._catch_up()
        self._transcript.resume()
        self._family = await family(self._call, self.id)
        open_permissions, open_questions = await asyncio.gather(
            self._call.get("/permission"), self._call.get("/question")
        )
        known = {request["id"] for request in (*open_permissions, *open_questions)}
        for request_id in self._waiting.keys() - known:
            self._answered({"requestID": request_id})
        for requests, ask in ((open_permissions, self._permission), (open_questions, self._question)):
            for request in requests:
                if request["sessionID"] in self._family:
                    self._ask(request, ask)
        self._heard.set()

    async def _catch_up(self) -> None:
        """Tell what the rows have and no event has told yet."""
        last, limit = self._transcript.last, LOOK_BACK
        found = await self._call.get(f"/session/{self.id}/message", limit=limit)
        while len(found) == limit and found[0]["info"]["id"] > last:
            limit *= 4
            found = await self._call.get(f"/session/{self.id}/message", limit=limit)
        await self._tell(self._transcript.history(found))

    async def _changed(self, info: Json) -> None:
        self._spent = float(info.get("cost") or 0)
        if info["title"] != self._title:
            self._title = info["title"]
            update = SessionInfoUpdate(session_update="session_info_update", title=self._title)
            await self._editor.update(self.id, update)
        if self.choices.adopt(info):
            for change in self.choices.updates:
                await self._editor.update(self.id, change)

    def _permission_asked(self, request: Json) -> None:
        self._ask(request, self._permission)

    def _question_asked(self, request: Json) -> None:
        self._ask(request, self._question)

    def _answered(self, given: Json) -> None:
        """It was answered elsewhere, or is no longer asked: the editor need not."""
        task = self._waiting.get(given["requestID"])
        if task is not None:
            task.cancel()

    _requests: Mapping[str, Callable[[EditorSession, Json], None]] = {
        "permission.asked": _permission_asked,
        "question.asked": _question_asked,
        "permission.replied": _answered,
        "question.replied": _answered,
        "question.rejected": _answered,
    }

    def _ask(self, request: Json, ask: Callable[[Json], Awaitable[None]]) -> None:
        if request["id"] in self._waiting:
            return

        async def asking() -> None:
            try:
                await ask(request)
            except (RequestError, RemoteError, ConnectionError) as error:
                logger.warning("%s is left to be answered at the page: %s", request["id"], error)

        task = self._waiting[request["id"]] = asyncio.create_task(asking())
        task.add_done_callback(lambda _: self._waiting.pop(request["id"], None))

    async def _permission(self, request: Json) -> None:
        call = asked(request, self._transcript.call_id(request), self.directory)
        answer = await self._editor.permission(self.id, call, permissions.options(request))
        await self._reply(f"/permission/{request['id']}/reply", permissions.reply(answer))

    async def _question(self, request: Json) -> None:
        """Its questions one after the other; who leaves one out answers none."""
        answers: list[list[str]] = []
        for number in range(len(request["questions"])):
            call, options = permissions.question(request, self._transcript.call_id(request), number)
            answer = await self._editor.permission(self.id, call, options)
            label = permissions.label(request, number, answer)
            if label is None:
                return await self._reply(f"/question/{request['id']}/reject", {})
            answers.append([label])
        return await self._reply(f"/question/{request['id']}/reply", {"answers": answers})

    async def _reply(self, path: str, body: Json) -> None:
        # Our own answer comes back as an event, which must not withdraw what was answered.
        with suppress(asyncio.CancelledError):
            try:
                await asyncio.shield(self._call.post(path, body))
            except RemoteError as error:
                if error.category != "not_found":  # somebody else was faster
                    raise


def _hint(command: Json) -> AvailableCommandInput | None:
    hints = command.get("hints") or []
    if not hints:
        return None
    return AvailableCommandInput(root=UnstructuredCommandInput(hint=" ".join(hints)))


def failure(error: Json) -> RequestError:
    """The error that a turn ended with, for the editor."""
    code = AUTH_REQUIRED if error.get("name") == AUTH_FAILED else INTERNAL_ERROR
    return RequestError(code, error_text(dict(error)), dict(error))


def reason(info: Json, stopped: bool) -> StopReason:
    """Why a turn ended, from its last message."""
    if stopped:
        return "cancelled"
    error = info.get("error") or {}
    return ENDS.get(error.get("name", "")) or FINISHES.get(info.get("finish") or "") or "end_turn"


def tokens(info: Json) -> Usage | None:
    """Those of the last answer."""
    used = info.get("tokens")
    if not used:
        return None
    cache = used.get("cache") or {}
    counts = (used.get("input"), used.get("output"), used.get("reasoning"), *cache.values())
    return Usage(
        total_tokens=used.get("total") or sum(int(count or 0) for count in counts),
        input_tokens=used.get("input") or 0,
        output_tokens=used.get("output") or 0,
        thought_tokens=used.get("reasoning") or 0,
        cached_read_tokens=cache.get("read") or 0,
        cached_write_tokens=cache.get("write") or 0,
    )

"""`/tui`: a terminal client driven from outside.

An order is an event to the clients of its folder. A client that polls `/tui/control/next` instead gets the
orders one by one, those too that come between two polls.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Body, Router

from sessions.api.base import directory_of, project_of, session_of, wire
from sessions.api.described import answers
from sessions.core import bus
from sessions.core.wire.events import (
    AppendText,
    ControlRequest,
    ExecuteCommand,
    SelectSession,
    Toast,
    TuiEvent,
)

router = Router()

APPEND, EXECUTE, TOAST, SELECT = (
    "tui.prompt.append",
    "tui.command.execute",
    "tui.toast.show",
    "tui.session.select",
)
_PATHS: Final = {
    APPEND: "/tui/append-prompt",
    EXECUTE: "/tui/execute-command",
    TOAST: "/tui/show-toast",
    SELECT: "/tui/select-session",
}
_OPENED: Final = {
    "help": "help.show",
    "sessions": "session.list",
    "themes": "theme.switch",
    "models": "model.list",
}
_OLDER_NAMES: Final = {
    "session_new": "session.new",
    "session_share": "session.share",
    "session_interrupt": "session.interrupt",
    "session_compact": "session.compact",
    "messages_page_up": "session.page.up",
    "messages_page_down": "session.page.down",
    "messages_line_up": "session.line.up",
    "messages_line_down": "session.line.down",
    "messages_half_page_up": "session.half.page.up",
    "messages_half_page_down": "session.half.page.down",
    "messages_first": "session.first",
    "messages_last": "session.last",
    "agent_cycle": "agent.cycle",
}
MOST_WAITING = 64
PAUSE_SECONDS = 10.0


@router.post("/append-prompt", operation_id="tui.appendPrompt")
@answers(bool)
async def append_prompt(request: HttpRequest, body: AppendText) -> HttpResponse:
    return await _order(request, APPEND, body.wire())


@router.post("/open-help", operation_id="tui.openHelp")
@answers(bool)
async def open_help(request: HttpRequest) -> HttpResponse:
    return await _order(request, EXECUTE, {"command": _OPENED["help"]})


@router.post("/open-sessions", operation_id="tui.openSessions")
@answers(bool)
async def open_sessions(request: HttpRequest) -> HttpResponse:
    return await _order(request, EXECUTE, {"command": _OPENED["sessions"]})


@router.post("/open-themes", operation_id="tui.openThemes")
@answers(bool)
async def open_themes(request: HttpRequest) -> HttpResponse:
    return await _order(request, EXECUTE, {"command": _OPENED["themes"]})


@router.post("/open-models", operation_id="tui.openModels")
@answers(bool)
async def open_models(request: HttpRequest) -> HttpResponse:
    return await _order(request, EXECUTE, {"command": _OPENED["models"]})


@router.post("/submit-prompt", operation_id="tui.submitPrompt")
@answers(bool)
async def submit_prompt(request: HttpRequest) -> HttpResponse:
    return await _order(request, EXECUTE, {"command": "prompt.submit"})


@router.post("/clear-prompt", operation_id="tui.clearPrompt")
@answers(bool)
async def clear_prompt(request: HttpRequest) -> HttpResponse:
    return await _order(request, EXECUTE, {"command": "prompt.clear"})


@router.post("/execute-command", operation_id="tui.executeCommand")
@answers(bool)
async def execute_command(request: HttpRequest, body: ExecuteCommand) -> HttpResponse:
    """By the name that a terminal client has for it, or the older one."""
    return await _order(request, EXECUTE, {"command": _OLDER_NAMES.get(body.command, body.command)})


@router.post("/show-toast", operation_id="tui.showToast")
@answers(bool)
async def show_toast(request: HttpRequest, body: Toast) -> HttpResponse:
    return await _order(request, TOAST, body.wire())


@router.post("/select-session", operation_id="tui.selectSession")
@answers(bool, errors=(404,))
async def select_session(request: HttpRequest, body: SelectSession) -> HttpResponse:
    await session_of(body.session_id)
    return await _order(request, SELECT, body.wire())


@router.post("/publish", operation_id="tui.publish")
@answers(bool)
async def publish(request: HttpRequest, body: TuiEvent) -> HttpResponse:
    return await _order(request, body.type, body.properties.wire())


async def _order(request: HttpRequest, type: str, properties: dict[str, Any]) -> HttpResponse:
    project = await project_of(request)
    directory = str(directory_of(request))
    bus.publish(bus.Event(type, properties, project_id=project.id, directory=directory))
    return wire(True)


@router.get("/control/next", operation_id="tui.control.next")
@answers(ControlRequest)
async def control_next(request: HttpRequest) -> StreamingHttpResponse:
    """Waits for the next order to the folder."""
    queue = await _queue_of(str(directory_of(request)))
    return StreamingHttpResponse(queue.next(), content_type="application/json")


@router.post("/control/response", operation_id="tui.control.response")
@answers(bool)
async def control_response(request: HttpRequest, body: Body[Any]) -> HttpResponse:
    """What became of an order; nobody waits for it, as in OpenCode."""
    return wire(True)


@dataclass
class _Queue:
    """The orders to a folder since somebody first asked for them; the mailbox is bounded, and who comes back
    after more than it holds begins anew."""

    mailbox: bus.Subscription
    orders: deque[bus.Event] = field(default_factory=deque)

    async def next(self) -> AsyncIterator[bytes]:
        """Spaces in front keep proxies from closing the connection meanwhile."""
        while not self.orders:
            self.orders.extend(await self.mailbox.take(PAUSE_SECONDS))
            yield b" "
        order = self.orders.popleft()
        yield json.dumps({"path": _PATHS[order.type], "body": order.properties}).encode()


_queues: dict[str, _Queue] = {}


async def _queue_of(directory: str) -> _Queue:
    queue = _queues.get(directory)
    if queue is not None and not queue.mailbox.overflowed:
        return queue
    if queue is not None:
        await queue.mailbox.__aexit__()

    def wants(event: bus.Event) -> bool:
        return event.type in _PATHS and event.directory == directory

    mailbox = await bus.subscribe(wants=wants, limit=MOST_WAITING).__aenter__()
    queue = _queues[directory] = _Queue(mailbox)
    return queue

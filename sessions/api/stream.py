"""`/event`: everything that happens in a project, as server-sent events framed as OpenCode does."""

from __future__ import annotations

from collections.abc import AsyncIterator

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router

from sessions import bus
from sessions.api.base import project_of

router = Router()

HEARTBEAT_SECONDS = 10.0
INTERNAL = {"session.inbox", "review.changed", "permission.rules", "session.forked", "store.full"}
"""Events of ours alone: clients of the protocol do not know them."""


@router.get("/event", operation_id="event.subscribe")
async def events(request: HttpRequest) -> StreamingHttpResponse:
    """Bare `data:` frames: `server.connected`, then events, with a heartbeat when nothing happens."""
    project = await project_of(request)
    response = StreamingHttpResponse(_frames(project.id), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


async def _frames(project_id: str) -> AsyncIterator[bytes]:
    """What came meanwhile leaves in one piece; a reader too slow for its mailbox is told and cut off."""
    async with bus.subscribe(project=project_id) as mailbox:
        yield _frame(bus.Event("server.connected", {}))
        while not mailbox.overflowed:
            waiting = await mailbox.take(HEARTBEAT_SECONDS)
            if waiting:
                yield b"".join(_frame(event) for event in waiting if event.type not in INTERNAL)
            else:
                yield _frame(bus.Event("server.heartbeat", {}))


def _frame(event: bus.Event) -> bytes:
    return f"data: {event.json}\n\n".encode("utf-8", "replace")

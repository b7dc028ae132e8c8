"""Apps of MCP servers within the cards of calls: their place, the document for the frame, what they ask.

The frame's document has no origin (its policy says so, whoever asks for it): no cookie goes with what it
asks for, and nothing of ours answers it. What it wants is told to the page around it (static/js/apps.js).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.html import escape
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.agent import apps
from agents.agent.apps import App, Refused, SwitchedOff
from agents.servers.mcp.apps import Document
from sessions.core.db import in_db
from sessions.core.store import messages
from sessions.web.access import session_of
from sessions.web.respond import fragment

MOMENT_SECONDS = 0.5
FORGOTTEN_SECONDS = 90.0
"""More than a minute, as seldom as a page in the background may ask."""
MOST_ASKED = 1024 * 1024
"""Characters of one message of an app."""
_LEAVING = (
    '<script>addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && '
    'parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/escape" }, "*"));</script>'
)
"""At the end of each document: the key that leads out of the frame, which the page does not hear."""


@require_GET
async def place(request: HttpRequest, project_id: str, session_id: str, part_id: str) -> HttpResponse:
    """What stands for the app in the card: where it is to be had, or why it is not shown."""
    try:
        app = await _app(project_id, session_id, part_id)
        document = await apps.document(app)
    except SwitchedOff as off:
        return fragment("mcp/app_off.html", server=off.server, project=project_id)
    except Refused as refusal:
        return fragment("mcp/app_off.html", reason=str(refusal))
    return fragment(
        "mcp/app.html",
        app=app,
        document=document,
        said=json.dumps(app.said, ensure_ascii=False),
    )


@require_GET
async def frame(request: HttpRequest, project_id: str, session_id: str, part_id: str) -> HttpResponse:
    """`?reach=` is the digest of the domains that a person lets through: others are none of them."""
    try:
        document = await apps.document(await _app(project_id, session_id, part_id))
    except Refused as refusal:  # since the page around it asked
        document = Document(escape(str(refusal)))
    response = HttpResponse(document.html + _LEAVING)
    allowed = bool(document.digest) and request.GET.get("reach") == document.digest
    response["Content-Security-Policy"] = document.policy(allowed)
    response["X-DNS-Prefetch-Control"] = "off"
    return response


@require_POST
async def ask(request: HttpRequest, project_id: str, session_id: str, part_id: str) -> HttpResponse:
    """A request of the app to its server: `method` and `params` (JSON); its `result`, or `error` in words.

    It may take as long as a person does, and a browser has six connections: what takes longer than a moment
    is asked about again by the page's `key` for it, or ended by `end`, also before it is answered.
    """
    key = request.POST.get("key", "")
    if "end" in request.POST:
        _pending.end(key)
        return HttpResponse(status=204)
    try:
        if "method" in request.POST:
            params = _params(request.POST.get("params", ""))
            app = await _app(project_id, session_id, part_id)
            _pending.begin(key, _answer(app, request.POST["method"], params))
        result = await _pending.look(key)
    except Refused as refusal:
        return JsonResponse({"error": str(refusal)})
    return JsonResponse({} if result is None else {"result": result})


class _Pending:
    """Requests of apps that are at work. One that nobody asks about any longer is ended."""

    def __init__(self) -> None:
        self._work: dict[str, tuple[asyncio.Task[dict[str, Any]], asyncio.TimerHandle]] = {}

    def begin(self, key: str, work: Coroutine[Any, Any, dict[str, Any]]) -> None:
        """Raises Refused for a key that is in use."""
        if key in self._work:
            work.close()
            raise Refused(gettext("This is asked already."))
        task = asyncio.create_task(work)
        task.add_done_callback(_seen)
        self._keep(key, task)

    async def look(self, key: str) -> dict[str, Any] | None:
        """The result, or None when it is still to come. Raises Refused."""
        if key not in self._work:
            raise Refused(gettext("This request has ended."))
        task, timer = self._work[key]
        timer.cancel()
        self._keep(key, task)
        try:
            await asyncio.wait({task}, timeout=MOMENT_SECONDS)
        except asyncio.CancelledError:  # the page is gone
            self.end(key)
            raise
        if not task.done():
            return None
        self.end(key)
        if task.cancelled():
            raise Refused(gettext("This request has ended."))
        return task.result()

    def end(self, key: str) -> None:
        task, timer = self._work.pop(key, (None, None))
        if task is not None and timer is not None:
            timer.cancel()
            task.cancel()

    def _keep(self, key: str, task: asyncio.Task[dict[str, Any]]) -> None:
        self._work[key] = task, asyncio.get_running_loop().call_later(FORGOTTEN_SECONDS, self.end, key)


def _seen(task: asyncio.Task[Any]) -> None:
    """Nobody may be there any longer for what went wrong."""
    if not task.cancelled():
        task.exception()


_pending = _Pending()


async def _app(project_id: str, session_id: str, part_id: str) -> App:
    """Raises Http404, Refused."""
    session = await session_of(project_id, session_id)
    part = await in_db(messages.part, session.id, part_id)
    if part is None or not apps.server_of(part):
        raise Http404(gettext("There is no app of this call."))
    return await apps.app_of(session, part)


async def _answer(app: App, method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method, params:
        case "tools/call", {"name": str(name)}:
            arguments = params.get("arguments") or {}
            if not isinstance(arguments, dict):
                raise Refused(gettext("The arguments are no object."))
            return await apps.call(app, name, arguments)
        case "resources/read", {"uri": str(uri)}:
            return await apps.read(app, uri)
    raise Refused(gettext("Nothing like that can be asked for."))


def _params(text: str) -> dict[str, Any]:
    """Raises Refused."""
    try:
        found = json.loads(text) if len(text) <= MOST_ASKED else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused(gettext("This is no request, or it is too long."))
    return found

"""How a request that is not let in is told so."""

from __future__ import annotations

import json
from urllib.parse import quote

from opencode_web.site.security.asgi import Headers, Receive, Send, redirect, respond
from opencode_web.site.security.request import Request

LOGIN = "/login"

_NAMES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "TooLarge",
    421: "MisdirectedRequest",
}


class Refused(Exception):
    """The guard stops this request; `status` is the HTTP status, `message` is for the reader."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


async def refuse(request: Request, refused: Refused, receive: Receive, send: Send) -> None:
    """Close a socket before it opened (403); send a page to the login; answer all others as the API does."""
    if request.is_websocket:
        await receive()
        await send({"type": "websocket.close", "code": 4403})
    elif refused.status == 401 and request.is_page:
        await redirect(send, f"{request.base}{LOGIN}?next={quote(_address(request), safe='/')}")
    else:
        body = {"name": _NAMES[refused.status], "data": {"message": refused.message}}
        headers = _headers(request, refused)
        await respond(send, refused.status, json.dumps(body), "application/json", headers)


def _address(request: Request) -> str:
    """Below the path of the server, as the login has it."""
    query = request.scope.get("query_string", b"").decode("latin-1")
    return f"{request.path}?{query}" if query else request.path


def _headers(request: Request, refused: Refused) -> Headers:
    if refused.status != 401:
        return []
    headers = [(b"www-authenticate", b'Bearer realm="opencode-web"')]
    if not request.fetch_site:
        # A browser would keep Basic credentials and send them along for every page of any site.
        headers.append((b"www-authenticate", b'Basic realm="opencode-web", charset="UTF-8"'))
    if request.htmx:
        headers.append((b"hx-redirect", f"{request.base}{LOGIN}".encode()))
    return headers

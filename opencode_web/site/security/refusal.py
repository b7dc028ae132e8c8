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


async def refuse(
    request: Request, refused: Refused, receive: Receive, send: Send, base: str, below: str
) -> None:
    """Close a socket before it opened (403); send a page to the login below the path `base`, which goes on to
    what is below the path `below`; answer all others as the API does."""
    if request.is_websocket:
        await receive()
        await send({"type": "websocket.close", "code": 4403})
    elif refused.status == 401 and request.is_page:
        await redirect(send, f"{base}{LOGIN}?next={quote(_address(request, below), safe='/')}")
    else:
        body = {"name": _NAMES[refused.status], "data": {"message": refused.message}}
        headers = _headers(request, refused, base)
        await respond(send, refused.status, json.dumps(body), "application/json", headers)


def _address(request: Request, below: str) -> str:
    path = request.scope["path"].removeprefix(below)
    query = request.scope.get("query_string", b"").decode("latin-1")
    return f"{path}?{query}" if query else path


def _headers(request: Request, refused: Refused, base: str) -> Headers:
    if refused.status != 401:
        return []
    headers = [(b"www-authenticate", b'Bearer realm="opencode-web"')]
    if not request.fetch_site:
        # A browser would keep Basic credentials and send them along for every page of any site.
        headers.append((b"www-authenticate", b'Basic realm="opencode-web", charset="UTF-8"'))
    if request.htmx:
        headers.append((b"hx-redirect", f"{base}{LOGIN}".encode()))
    return headers

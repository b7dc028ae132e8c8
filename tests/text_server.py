"""A web server on loopback that gives one text at every path, or an error, or no answer at all."""

from __future__ import annotations

from tests.loopback.answering import AnsweringServer
from tests.loopback.wire import HttpRequest, response

PLAIN = {"content-type": "text/plain"}


class TextServer(AnsweringServer):
    """`text`, `status` and `silent` may be changed while it runs; requests are in `requests`."""

    def __init__(self, text: str = "", *, status: int = 200, silent: bool = False, port: int = 0) -> None:
        super().__init__(port)
        self.text = text
        self.status = status
        self.silent = silent
        self.requests: list[HttpRequest] = []

    @property
    def url(self) -> str:
        return f"{super().url}/rules.md"

    async def answer(self, request: HttpRequest) -> bytes:
        self.requests.append(request)
        if self.silent:
            return b""
        tag = f'"{hash(self.text)}"'
        if self.status == 200 and request.headers.get("if-none-match") == tag:
            return response(304, "", PLAIN)
        return response(self.status, self.text, {**PLAIN, "etag": tag})

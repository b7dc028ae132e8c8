"""An HTTP server on loopback that gives the answers it was told, in order, the last one for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.loopback.answering import AnsweringServer
from tests.loopback.wire import HttpRequest, response

JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """`drop` closes the connection instead."""

    status: int = 200
    body: str = "{}"
    headers: Mapping[str, str] = field(default_factory=lambda: JSON)
    drop: bool = False


@dataclass(frozen=True)
class Request:
    """`target` has the query; header names are in lower case."""

    target: str
    headers: Mapping[str, str]
    body: bytes


class Answers(AnsweringServer):
    """Requests are in `requests`."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__()
        self._answers = list(answers)
        self.requests: list[Request] = []

    async def answer(self, request: HttpRequest) -> bytes:
        target = f"{request.path}?{request.query}".removesuffix("?")
        self.requests.append(Request(target, request.headers, request.body))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer.drop:
            raise ConnectionAbortedError
        return response(answer.status, answer.body, dict(answer.headers))

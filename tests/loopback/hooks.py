"""Whatever takes news, on loopback: webhooks, ntfy, Matrix, services of Web Push; and a mail server.

async with HookServer() as hook:
    hook.answers(503, 200)
    request = await hook.request(2)
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, Self

from tests.loopback.answering import AnsweringServer
from tests.loopback.wire import HttpRequest, parse_object, response

PATIENCE = 30.0


class HookServer(AnsweringServer):
    """It takes all that comes, unless told otherwise; `requests` are what came, the first first."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.requests: list[HttpRequest] = []
        self._answers: deque[tuple[int, Mapping[str, str]]] = deque()
        self._came = asyncio.Condition()
        self._may_answer = asyncio.Event()
        self._may_answer.set()

    def answers(self, *statuses: int, **headers: str) -> None:
        """To the next requests, one each; to those after them 200."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._answers = deque((status, named) for status in statuses)

    def hold(self) -> None:
        """Answer nothing until `release`."""
        self._may_answer.clear()

    def release(self) -> None:
        self._may_answer.set()

    async def request(self, number: int = 1) -> HttpRequest:
        """The one of this number (from 1), once it has come."""
        async with asyncio.timeout(PATIENCE), self._came:
            await self._came.wait_for(lambda: len(self.requests) >= number)
        return self.requests[number - 1]

    async def body(self, number: int = 1) -> dict[str, Any]:
        """Its JSON."""
        return parse_object((await self.request(number)).body)

    async def answer(self, request: HttpRequest) -> bytes:
        async with self._came:
            self.requests.append(request)
            self._came.notify_all()
        await self._may_answer.wait()
        status, headers = self._answers.popleft() if self._answers else (200, {})
        return response(status, "" if status == 204 else '{"ok": true}', headers)


@dataclass
class MailServer:
    """SMTP (RFC 5321) without encryption, as it is allowed on loopback alone. With a `password` it wants that
    first; `refuses` is what it answers a recipient with."""

    password: str = ""
    refuses: str = ""
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._tasks: set[asyncio.Task[Any]] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        known = not self.password

        def say(text: str) -> None:
            writer.write(f"{text}\r\n".encode())

        say("220 loopback")
        while line := (await reader.readline()).decode("latin-1").strip():
            verb, _, rest = line.partition(" ")
            match verb.upper():
                case "EHLO":
                    say("250-loopback" if self.password else "250 loopback")
                    if self.password:
                        say("250 AUTH PLAIN")
                case "AUTH":
                    known = b64decode(rest.partition(" ")[2]).split(b"\0")[2].decode() == self.password
                    say("235 welcome" if known else "535 wrong password")
                case "MAIL":
                    say("250 ok" if known else "530 sign in first")
                case "RCPT":
                    self.recipients += [] if self.refuses else [rest.partition(":")[2].strip("<> ")]
                    say(self.refuses or "250 ok")
                case "DATA":
                    say("354 go on")
                    text = await reader.readuntil(b"\r\n.\r\n")
                    mail = message_from_bytes(text[:-3], policy=policy.default)
                    assert isinstance(mail, EmailMessage)
                    self.mails.append(mail)
                    say("250 taken")
                case "QUIT":
                    say("221 bye")
                    break
                case _:
                    say("250 ok")
            await writer.drain()
        writer.close()

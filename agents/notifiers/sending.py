"""Sending one message: over HTTP, by a mail server, or to a command. Nobody is sent anywhere else on the way.

A request goes to the very address that was looked at; redirects are not followed. Addresses of links
(169.254.0.0/16, where clouds keep their secrets) are refused; where a server has people, those of private
networks and of this machine, and commands, too.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import signal
import smtplib
import socket
import ssl
import time
from contextlib import suppress
from email.message import EmailMessage
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.utils.translation import gettext

from agents.llm import tls
from agents.notifiers.formats import FORMATS, Request, argv, recipients
from agents.notifiers.message import Message
from agents.toolkit.base import ToolError
from agents.toolkit.shared.environment import program_environment
from agents.toolkit.shared.web import fetch
from sessions.core import variables
from sessions.core.store.notifiers import Target
from sessions.core.text import error_text

SECONDS = 20.0
"""For one try."""
_PORTS = {"smtp": 587, "smtps": 465}
_AGAIN = frozenset({408, 425, 429})
_GONE = frozenset({404, 410})
_MOST_SAID = 200


class NotSent(Exception):
    """The text says why. `again`: it may go better later, after `seconds` at least. `gone`: there is nobody
    any more, and never will be."""

    def __init__(self, words: str, *, again: bool = True, seconds: float = 0.0, gone: bool = False) -> None:
        super().__init__(words)
        self.again = again
        self.seconds = seconds
        self.gone = gone


async def send(format: str, message: Message, target: Target) -> None:
    """Raises NotSent."""
    try:
        async with asyncio.timeout(SECONDS):
            await _send(format, message, target)
    except TimeoutError as error:
        raise NotSent(gettext("No answer within %(seconds)s seconds.") % {"seconds": int(SECONDS)}) from error


async def _send(format: str, message: Message, target: Target) -> None:
    request = FORMATS[format].request
    if request is not None:
        await _post(request(message, target), is_push=format == "push")
    elif format == "email":
        await _mail(message, target)
    else:
        await _run(message, target)


async def permit(host: str, address: str) -> None:
    """Whether an address that is not of the internet may be sent to. Raises NotSent."""
    try:
        found = ipaddress.ip_address(address)
        refused = found.is_link_local or found.is_multicast or found.is_unspecified
    except ValueError:
        refused = False
    if refused or (settings.PEOPLE and not variables.PRIVATE_HOSTS.read()):
        words = gettext("%(host)s is at an address that nothing is sent to from here.") % {"host": host}
        raise NotSent(words, again=False)


async def _post(request: Request, *, is_push: bool) -> None:
    import httpx  # 70 ms: not before the first message

    try:
        target = await fetch.target_of(request.url, permit)
        headers = {"user-agent": "opencode-web", **request.headers, **target.headers}
        async with fetch.client_for(target.proxy) as client:
            asked = client.build_request(
                request.method,
                target.url,
                headers=headers,
                content=request.body,
                extensions=target.extensions,
            )
            response = await client.send(asked)
    except (httpx.HTTPError, httpx.InvalidURL, ToolError, UnicodeError, OSError) as error:
        raise NotSent(gettext("Not reached: %(why)s") % {"why": error_text(error)}) from error
    status = response.status_code
    if response.is_success:
        return
    words = gettext("It answered %(status)s %(reason)s.") % {
        "status": status,
        "reason": response.reason_phrase or _phrase(status),
    }
    said = "" if is_push else " ".join(response.text.split())[:_MOST_SAID]
    again = status in _AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    raise NotSent(
        f"{words} {said}".strip(),
        again=again,
        seconds=_seconds(response.headers.get("retry-after", "")),
        gone=is_push and status in _GONE,
    )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _seconds(retry_after: str) -> float:
    """As RFC 9110 §10.2.3 has it; 0 where it says nothing."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after).timestamp()
    except (ValueError, TypeError):
        return 0.0
    return max(0.0, moment - time.time())


async def _mail(message: Message, target: Target) -> None:
    parts = urlsplit(target.address)
    host, port = str(parts.hostname), parts.port or _PORTS[parts.scheme]
    try:
        address = (await fetch.resolve(host, port))[0]
    except ToolError as error:
        raise NotSent(str(error)) from error
    if not fetch.is_public(address):
        await permit(host, str(address))
    user = unquote(parts.username or "")
    mail = _written(message, target, user, host)
    is_near = address.is_loopback

    def deliver() -> None:
        with _connected(parts.scheme, host, str(address), port, is_near) as server:
            if target.secret:
                server.login(user, target.secret)
            server.send_message(mail, to_addrs=recipients(target))

    try:
        await asyncio.to_thread(deliver)
    except smtplib.SMTPAuthenticationError as error:
        raise NotSent(gettext("The server refused the name or the password."), again=False) from error
    except smtplib.SMTPResponseException as error:
        said = error.smtp_error.decode(errors="replace") if isinstance(error.smtp_error, bytes) else ""
        words = gettext("The server answered %(status)s.") % {"status": error.smtp_code}
        raise NotSent(f"{words} {said[:_MOST_SAID]}".strip(), again=error.smtp_code < 500) from error
    except smtplib.SMTPRecipientsRefused as error:
        for_now = all(code < 500 for code, _ in error.recipients.values())
        raise NotSent(gettext("The server takes no mail for that address."), again=for_now) from error
    except smtplib.SMTPNotSupportedError as error:
        words = gettext("The server offers no encryption, or no sign-in.")
        raise NotSent(words, again=False) from error
    except (smtplib.SMTPException, OSError) as error:
        raise NotSent(gettext("Not reached: %(why)s") % {"why": error_text(error)}) from error


def _connected(scheme: str, host: str, address: str, port: int, is_near: bool) -> smtplib.SMTP:
    """At the address that was looked at, by the name that its certificate has. Nothing goes unencrypted over
    a network."""
    name = socket.gethostname()
    server: smtplib.SMTP
    if scheme == "smtps":
        server = smtplib.SMTP_SSL(local_hostname=name, timeout=SECONDS, context=tls.context())
    else:
        server = smtplib.SMTP(local_hostname=name, timeout=SECONDS)
    server._host = host  # type: ignore[attr-defined]  # what certificates are compared with
    try:
        server.connect(address, port)
        server.ehlo()
        if scheme == "smtp" and (server.has_extn("starttls") or not is_near):
            server.starttls(context=tls.context())
            server.ehlo()
    except (OSError, smtplib.SMTPException, ssl.SSLError):
        server.close()
        raise
    return server


def _written(message: Message, target: Target, user: str, host: str) -> EmailMessage:
    mail = EmailMessage()
    to = recipients(target)
    mail["Subject"] = f"opencode-web: {message.title}"
    mail["From"] = user if "@" in user else to[0]
    mail["To"] = ", ".join(to)
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{message.id}@{host}>"
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody's holiday answers it
    mail.set_content(f"{message.text}\n\n{message.url}\n")
    return mail


async def _run(message: Message, target: Target) -> None:
    """The command gets what programs get as JSON on its standard input, and has to end with 0."""
    if settings.PEOPLE:
        raise NotSent(gettext("A server of a team runs no commands for this."), again=False)
    try:
        process = await asyncio.create_subprocess_exec(
            *argv(target),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=program_environment(),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        words = gettext("The command cannot be started: %(why)s") % {"why": error_text(error)}
        raise NotSent(words, again=False) from error
    try:
        _, said = await process.communicate(json.dumps(message.wire, ensure_ascii=False).encode())
    finally:
        if process.returncode is None:
            _kill(process.pid)
            await process.wait()
    if process.returncode:
        words = gettext("The command ended with %(status)s.") % {"status": process.returncode}
        raise NotSent(f"{words} {said.decode(errors='replace')[:_MOST_SAID]}".strip())


def _kill(pid: int) -> None:
    """With all that is in its session."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)

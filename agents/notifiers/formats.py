"""What each format takes, and the request that a message becomes in it."""

from __future__ import annotations

import hmac
import html
import json
import re
import shlex
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.notifiers.message import Message
from sessions.core.store.notifiers import NotifierRefused, Target

_SIGNED_PREFIX = "whsec_"
_MOST_PLACE = 200
_DISCORD = re.compile(r"([\\*_~`|>\[\]()#@:-])")


@dataclass(frozen=True, slots=True)
class Request:
    """Over HTTP, once."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Format:
    """`address`, `to` and `secret` are what its fields are called, empty where it has none; `needs_secret`
    where it is nothing without. `request` makes what is sent over HTTP; the others are sent as they are
    (`sending`)."""

    title: str
    address: str
    example: str
    to: str = ""
    to_example: str = ""
    secret: str = ""
    needs_secret: bool = False
    request: Callable[[Message, Target], Request] | None = None
    check: Callable[[Target], None] = field(default=lambda target: None)


def place(format: str, target: Target) -> str:
    """What a page shows of where it goes: not the path, which is a secret with some."""
    if format == "command":
        found = shlex.split(target.address)[0]
    else:
        parts = urlsplit(target.address)
        port = f":{parts.port}" if parts.port else ""
        found = f"{parts.hostname or ''}{port}"
        found = f"{target.to} · {found}" if target.to else found
    return found[:_MOST_PLACE]


def _is_web(target: Target) -> None:
    try:
        parts = urlsplit(target.address)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise NotifierRefused(gettext("The address begins with https:// or http://."))
    if parts.username or parts.password:
        raise NotifierRefused(gettext("Leave names and passwords out of the address."))


def _is_topic(target: Target) -> None:
    _is_web(target)
    if not urlsplit(target.address).path.strip("/"):
        raise NotifierRefused(gettext("The address ends with the topic, as in https://ntfy.sh/my-topic."))


def _is_room(target: Target) -> None:
    _is_web(target)
    if not target.to.startswith("!"):
        raise NotifierRefused(gettext("A room is named by its id, which begins with “!”."))


def _is_mail(target: Target) -> None:
    try:
        parts = urlsplit(target.address)
        known = parts.scheme in ("smtp", "smtps") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known or parts.password:
        raise NotifierRefused(gettext("The server is named as in smtps://you@mail.example.org."))
    if not all(re.fullmatch(r"[^\s@<>,;]+@[^\s@<>,;]+", one) for one in recipients(target)):
        raise NotifierRefused(gettext("Say to which e-mail address."))


def _is_command(target: Target) -> None:
    if not _words(target.address):
        raise NotifierRefused(gettext("A command is a program with its arguments; no shell reads it."))


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def argv(target: Target) -> list[str]:
    """Of a command."""
    return _words(target.address)


def recipients(target: Target) -> list[str]:
    """Of an e-mail."""
    return [one.strip() for one in target.to.split(",") if one.strip()] or [""]


def _json(method: str, url: str, body: object, headers: Mapping[str, str] | None = None) -> Request:
    text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Request(method, url, {"content-type": "application/json", **(headers or {})}, text)


def _bearer(target: Target) -> dict[str, str]:
    return {"authorization": f"Bearer {target.secret}"} if target.secret else {}


def _ntfy(message: Message, target: Target) -> Request:
    server, _, topic = target.address.rstrip("/").rpartition("/")
    body = {
        "topic": unquote(topic),
        "title": message.title,
        "message": message.text or message.title,
        "click": message.url,
        "priority": 4 if message.asks else 3,
    }
    return _json("POST", f"{server}/", body, _bearer(target))


def _slack(message: Message, target: Target) -> Request:
    title, text, url = (_for_slack(part) for part in (message.title, message.text, message.url))
    open_it = gettext("Open")
    return _json("POST", target.address, {"text": f"*{title}*\n{text}\n<{url}|{open_it}>"})


def _for_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _discord(message: Message, target: Target) -> Request:
    embed = {
        "title": _DISCORD.sub(r"\\\1", message.title)[:256],
        "description": _DISCORD.sub(r"\\\1", message.text)[:4096],
        "url": message.url,
    }
    body = {"embeds": [embed], "allowed_mentions": {"parse": []}}
    return _json("POST", target.address, body)


def _matrix(message: Message, target: Target) -> Request:
    """The server takes a transaction's id once (Client-Server API, sending events)."""
    room, base = quote(target.to, safe=""), target.address.rstrip("/")
    url = f"{base}/_matrix/client/v3/rooms/{room}/send/m.room.message/{message.id}"
    title, text, link = (html.escape(part) for part in (message.title, message.text, message.url))
    lines = text.replace("\n", "<br>")
    body = {
        "msgtype": "m.text",
        "body": f"{message.title}\n{message.text}\n{message.url}",
        "format": "org.matrix.custom.html",
        "formatted_body": f'<strong>{title}</strong><br>{lines}<br><a href="{link}">{link}</a>',
    }
    return _json("PUT", url, body, _bearer(target))


def _signed(message: Message, target: Target) -> Request:
    """Signed as Standard Webhooks 1.0 has it: who knows the secret can tell it from another's, and an old one
    from a new one."""
    request = _json("POST", target.address, message.wire)
    moment = str(int(time.time()))
    signature = sign(target.secret, message.id, moment, request.body)
    headers = {"webhook-id": message.id, "webhook-timestamp": moment, "webhook-signature": signature}
    return Request(request.method, request.url, {**request.headers, **headers}, request.body)


def sign(secret: str, id: str, moment: str, body: bytes) -> str:
    """HMAC-SHA256 over id, Unix time and body."""
    signed = b".".join((id.encode(), moment.encode(), body))
    return f"v1,{b64encode(hmac.digest(_key(secret), signed, 'sha256')).decode()}"


def _key(secret: str) -> bytes:
    try:
        if secret.startswith(_SIGNED_PREFIX):
            return b64decode(secret.removeprefix(_SIGNED_PREFIX), validate=True)
    except ValueError:
        pass
    return secret.encode()


def _push(message: Message, target: Target) -> Request:
    from agents.notifiers import push

    shown = {"title": message.title, "text": message.text, "url": message.url, "tag": message.tag}
    body = push.encrypt(json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"), target.secret)
    return Request("POST", target.address, push.headers(target.address, message.asks), body)


def _is_subscription(target: Target) -> None:
    from agents.notifiers import push

    _is_web(target)
    push.check(target.secret)


_TOKEN = gettext_noop("Token, if it needs one")
FORMATS: dict[str, Format] = {
    "ntfy": Format(
        "ntfy",
        gettext_noop("Topic"),
        "https://ntfy.sh/my-topic",
        secret=_TOKEN,
        request=_ntfy,
        check=_is_topic,
    ),
    "slack": Format(
        "Slack",
        gettext_noop("Address of the webhook"),
        "https://hooks.slack.com/services/…",
        request=_slack,
        check=_is_web,
    ),
    "discord": Format(
        "Discord",
        gettext_noop("Address of the webhook"),
        "https://discord.com/api/webhooks/…",
        request=_discord,
        check=_is_web,
    ),
    "matrix": Format(
        "Matrix",
        gettext_noop("Server"),
        "https://matrix.example.org",
        to=gettext_noop("Room"),
        to_example="!room:example.org",
        secret=gettext_noop("Access token"),
        needs_secret=True,
        request=_matrix,
        check=_is_room,
    ),
    "json": Format(
        gettext_noop("Webhook (JSON)"),
        gettext_noop("Address"),
        "https://example.org/news",
        secret=gettext_noop("Secret that signs it"),
        needs_secret=True,
        request=_signed,
        check=_is_web,
    ),
    "email": Format(
        gettext_noop("E-mail"),
        gettext_noop("Server"),
        "smtps://you@mail.example.org",
        to=gettext_noop("To"),
        to_example="you@example.org",
        secret=gettext_noop("Password, if it needs one"),
        check=_is_mail,
    ),
    "command": Format(
        gettext_noop("A command"), gettext_noop("Command"), "notify-phone --title opencode", check=_is_command
    ),
    "push": Format(gettext_noop("Push to a browser"), "", "", request=_push, check=_is_subscription),
}
PUSH = "push"
"""The one that a browser sets up by itself."""

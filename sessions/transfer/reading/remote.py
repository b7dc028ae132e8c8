"""An export that lies at an address: a file over https, or what a page of OpenCode's shares shows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from sessions.core.addresses import is_safe
from sessions.core.sentences import Sentence

from .exported import MAX_FILE
from .json_file import load
from .records import Unreadable, Wire, mapping, text

SECONDS = 30.0
_SHARE = re.compile(r"/(?:share|s)/([A-Za-z0-9_-]{1,200})/?")
_DATA = ("/api/share/{}/data", "/api/shares/{}/data")
"""Where OpenCode's servers of shares have what a page shows; the second is the newer one."""


def is_address(name: str) -> bool:
    return name.startswith(("https://", "http://"))


def fetch(address: str, folder: Path) -> Path:
    """The export at an address, as a file in a folder. Raises Unreadable where there is none to be had."""
    where = urlsplit(address)
    if not is_safe(where.scheme, where.hostname):
        raise Unreadable(
            Sentence(
                "%(address)s is not fetched: it begins with http, and only https keeps it as it is",
                address=address,
            )
        )
    file = folder / "export.json"
    share = _SHARE.fullmatch(where.path)
    try:
        with httpx.Client(
            timeout=SECONDS, follow_redirects=True, event_hooks={"request": [_check]}
        ) as client:
            if share is None:
                _save(client, address, file)
            else:
                _save_share(client, f"{where.scheme}://{where.netloc}", share[1], file)
    except httpx.HTTPStatusError as error:
        raise Unreadable(
            Sentence(
                "%(address)s is not to be had: status %(status_code)s",
                address=address,
                status_code=error.response.status_code,
            )
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unreadable(
            Sentence("%(address)s is not to be had: %(error)s", address=address, error=error)
        ) from error
    return file


def _check(request: httpx.Request) -> None:
    """Also what an address leads on to. Raises Unreadable."""
    if not is_safe(request.url.scheme, request.url.host):
        raise Unreadable(Sentence("%(url)s is not fetched: only https keeps it as it is", url=request.url))


def _save(client: httpx.Client, address: str, file: Path) -> None:
    """As it is sent: packed, a little could become any size. Raises Unreadable for what is too large, and
    what httpx raises."""
    size, plain = 0, {"accept-encoding": "identity"}
    with client.stream("GET", address, headers=plain) as response, file.open("wb") as out:
        response.raise_for_status()
        for piece in response.iter_raw():
            size += len(piece)
            if size > MAX_FILE:
                raise Unreadable(
                    Sentence(
                        "%(address)s is larger than %(most)s MB", address=address, most=MAX_FILE // 1024**2
                    )
                )
            out.write(piece)


def _save_share(client: httpx.Client, server: str, share: str, file: Path) -> None:
    """Raises Unreadable for what is no share, and what httpx raises."""
    first, second = (f"{server}{path.format(share)}" for path in _DATA)
    try:
        _save(client, first, file)
    except httpx.HTTPStatusError:
        _save(client, second, file)
    file.write_text(json.dumps(_as_export(load(file, MAX_FILE))))


def _as_export(found: Any) -> Wire:
    """The records of a share, `{"type", "data"}` each, as `opencode export` writes them. Raises
    Unreadable."""
    rows: dict[str, list[Wire]] = {"session": [], "message": [], "part": []}
    for record in found if isinstance(found, list) else ():
        kind, data = text(mapping(record).get("type")), mapping(mapping(record).get("data"))
        if kind in rows and text(data.get("id")):
            rows[kind].append(dict(data))
    if not rows["session"]:
        raise Unreadable(Sentence("the share holds no session"))
    parts: dict[str, list[Wire]] = {}
    for part in sorted(rows["part"], key=lambda part: text(part["id"])):
        parts.setdefault(text(part.get("messageID")), []).append(part)
    messages = sorted(rows["message"], key=lambda message: text(message["id"]))
    return {
        "info": rows["session"][0],
        "messages": [{"info": info, "parts": parts.get(text(info["id"]), [])} for info in messages],
    }

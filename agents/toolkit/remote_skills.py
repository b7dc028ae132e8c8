"""Skills at an address (`skills.urls`), as OpenCode finds them: an index, and below it the files of each.

They are fetched into a folder of the address's own, whole or not at all, and again when the index is another
one. What is there is used while the address does not answer.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from agents.config.trust.store import digest
from agents.llm.bounded import client
from sessions.core import paths
from sessions.core.addresses import is_safe
from sessions.core.sentences import Sentence
from sessions.core.text import error_text

if TYPE_CHECKING:
    import httpx

SECONDS = 60.0
"""For an index and all files."""
PATIENCE_SECONDS = 10.0
"""How long is waited for an address of which nothing is here yet."""
FRESH_SECONDS = 600.0
MAX_INDEX = 1024 * 1024
MAX_FILES = 1000
MAX_BODY = 20 * 1024 * 1024
"""Bytes of all files of an address."""
_INDEX = "index.json"
_FILE = "SKILL.md"

logger = logging.getLogger(__name__)


class Unusable(Exception):
    """Why an address gives no skills; the text is for people."""


class _Entry(BaseModel):
    name: str
    files: list[str]


class _Index(BaseModel):
    skills: list[_Entry]


def folder_of(url: str) -> Path:
    """Where the skills of an address are, once they were fetched."""
    return paths.skills() / digest(url.encode())[:16]


@dataclass(slots=True)
class _Address:
    """`tried` is a time of `time.monotonic`."""

    fetching: asyncio.Task[str]
    tried: float


class RemoteSkills:
    """The addresses of one process."""

    def __init__(self) -> None:
        self._known: dict[str, _Address] = {}

    async def fetch(self, urls: Sequence[str]) -> list[str]:
        """Fetch what was not fetched for ten minutes. Waits only for an address of which nothing is here, at
        most ten seconds. Gives what went wrong, where that is known."""
        if not urls:
            return []
        addresses = [self._address(url) for url in dict.fromkeys(urls)]
        here = await asyncio.to_thread(lambda: [folder_of(url).is_dir() for url in dict.fromkeys(urls)])
        new = [known.fetching for known, is_here in zip(addresses, here, strict=True) if not is_here]
        if new:
            await asyncio.wait(new, timeout=PATIENCE_SECONDS)
        return [known.fetching.result() for known in addresses if _is_wrong(known.fetching)]

    def _address(self, url: str) -> _Address:
        known, now = self._known.get(url), time.monotonic()
        if known is None or (known.fetching.done() and now - known.tried >= FRESH_SECONDS):
            task = asyncio.get_running_loop().create_task(_fetched(url))
            known = self._known[url] = _Address(task, now)
        return known


def _is_wrong(fetching: asyncio.Task[str]) -> bool:
    return fetching.done() and not fetching.cancelled() and bool(fetching.result())


async def _fetched(url: str) -> str:
    """Bring the folder of an address up to date; empty, or what went wrong. Then it stays as it is."""
    import httpx  # 70 ms: not before the first address

    try:
        async with asyncio.timeout(SECONDS):
            await _fetch(url)
    except TimeoutError:
        problem: str = Sentence("not all was there within %(seconds)s s", seconds=f"{SECONDS:g}")
    except httpx.HTTPStatusError as error:
        problem = f"{error.request.url} answers {error.response.status_code}"
    except (httpx.HTTPError, httpx.InvalidURL, OSError, Unusable) as error:
        problem = error_text(error)
    else:
        return ""
    logger.warning("the skills at %s are left as they were: %s", url, problem)
    return f"skills.urls: {url}: {problem}"


async def _fetch(url: str) -> None:
    base, folder = f"{url.removesuffix('/')}/", folder_of(url)
    async with client(MAX_BODY, follow_redirects=True, event_hooks={"request": [_check]}) as asking:
        index = await _body(asking, f"{base}{_INDEX}")
        if await asyncio.to_thread(_is_same, folder, index):
            return
        bodies, left = {_INDEX: index}, MAX_BODY
        for path in _paths(index):
            bodies[path] = await _body(asking, f"{base}{quote(path)}")
            left -= len(bodies[path])
            if left < 0:
                raise Unusable(
                    Sentence("the files have more than %(most)s MB together", most=MAX_BODY // 1024**2)
                )
    await asyncio.to_thread(_keep, folder, bodies)


async def _check(request: httpx.Request) -> None:
    """Of an address and what it leads on to. Raises Unusable."""
    if not is_safe(request.url.scheme, request.url.host):
        raise Unusable(Sentence("%(url)s is not fetched: only https keeps it as it is", url=request.url))


async def _body(asking: httpx.AsyncClient, url: str) -> bytes:
    response = await asking.get(url)
    response.raise_for_status()
    return response.content


def _paths(index: bytes) -> list[str]:
    """The files of the skills that have a text, below the folder of the address. Raises Unusable."""
    if len(index) > MAX_INDEX:
        raise Unusable(Sentence("the index has more than %(most)s MB", most=MAX_INDEX // 1024**2))
    try:
        entries = _Index.model_validate_json(index).skills
    except ValidationError as error:
        raise Unusable(Sentence("the index is not one of skills, each with a name and files")) from error
    found = [f"{entry.name}/{file}" for entry in entries if _FILE in entry.files for file in entry.files]
    if len(found) > MAX_FILES:
        raise Unusable(Sentence("the index names more than %(most)s files", most=MAX_FILES))
    if wrong := next((path for path in found if not _is_inside(path)), None):
        raise Unusable(Sentence("the index names a file of no skill: %(wrong)s", wrong=repr(wrong)))
    return list(dict.fromkeys(found))


def _is_inside(path: str) -> bool:
    names = path.split("/")
    return path.isprintable() and "\\" not in path and not {"", ".", ".."}.intersection(names)


def _is_same(folder: Path, index: bytes) -> bool:
    try:
        return (folder / _INDEX).read_bytes() == index
    except FileNotFoundError:
        return False


def _keep(folder: Path, bodies: dict[str, bytes]) -> None:
    """In place of what there was."""
    made = Path(mkdtemp(dir=folder.parent, prefix="."))
    try:
        for path, body in bodies.items():
            file = made / "new" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
        if folder.exists():
            folder.rename(made / "old")
        (made / "new").rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


remote_skills = RemoteSkills()

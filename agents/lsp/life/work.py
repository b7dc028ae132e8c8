"""What the servers of a file are told and asked. `prepare` reads the disk, the rest is for their loop."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.lsp.client.files.documents import MAX_BYTES
from agents.lsp.life.plan import Place, Use, place_of, uses
from agents.lsp.life.pool import Pool
from agents.lsp.life.slot import Slot
from agents.lsp.types import Diagnostic, Failed

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Errand:
    """A file as its servers are to see it: `content` is None when it is gone or too long, `saved` says
    whether the disk holds the same. Of two errands the later one has the higher `ticket`."""

    place: Place
    uses: Sequence[Use]
    path: Path
    content: bytes | None
    saved: bool
    ticket: int


def prepare(directory: Path, path: Path, content: bytes | None, ticket: int) -> Errand | None:
    """None for a folder that is not there."""
    try:
        place = place_of(directory)
    except OSError:
        return None
    file = path if path.is_relative_to(place.worktree) else path.resolve()
    found = uses(place, file)
    on_disk = _read(file) if found else None
    told = on_disk if content is None else content
    return Errand(place, found, file, told, told == on_disk, ticket)


def _read(file: Path) -> bytes | None:
    with suppress(OSError):
        if file.is_file() and file.stat().st_size <= MAX_BYTES:
            return file.read_bytes()
    return None


async def touch(pool: Pool, errand: Errand, wait: float) -> tuple[Diagnostic, ...]:
    """Tell all servers; what they say of it within `wait` seconds. A server that takes longer is told all the
    same, when it has started."""
    end = time.monotonic() + wait
    slots = await _slots(pool, errand)
    tasks = [asyncio.create_task(_tell(pool, slot, errand, end)) for slot in slots]
    if not tasks:
        return ()
    _pending.update(tasks)
    for task in tasks:
        task.add_done_callback(_pending.discard)
    done, _ = await asyncio.wait(tasks, timeout=wait)
    return tuple(one for task in tasks if task in done for one in task.result())


_pending: set[asyncio.Task[tuple[Diagnostic, ...]]] = set()
"""Kept, as the loop itself holds tasks weakly."""


async def _slots(pool: Pool, errand: Errand) -> list[Slot]:
    await pool.keep(errand.place.worktree, (row.id for row in errand.place.rows))
    return [pool.slot(use, errand.place.directory) for use in errand.uses]


async def _tell(pool: Pool, slot: Slot, errand: Errand, end: float) -> tuple[Diagnostic, ...]:
    """What a server says of a file until a time of `time.monotonic`."""
    path = errand.path
    try:
        with pool.at_work(slot):
            client = await pool.client(slot)
            if client is None or not slot.is_newer(path, errand.ticket):
                return ()
            if errand.content is None:
                client.close(path)
                return ()
            version = client.open(path, errand.content, saved=errand.saved)
            left = end - time.monotonic()
            return await client.diagnostics(path, version, left) if left > 0 else ()
    except Failed as failure:
        logger.info("%s was not told of %s: %s", slot.use.row.id, path, failure)
        return ()
    except Exception:
        logger.exception("%s was not told of %s", slot.use.row.id, path)
        return ()


async def ask(pool: Pool, errand: Errand, method: str, params: Any, within: float) -> list[tuple[str, Any]]:
    """(server, result) of those that answered. Raises Failed when there were servers and none did."""
    slots = await _slots(pool, errand)
    asked = (_asked(pool, slot, errand, method, params, within) for slot in slots)
    answers = await asyncio.gather(*asked, return_exceptions=True)
    results: list[tuple[str, Any]] = []
    failures: list[str] = []
    for slot, answer in zip(slots, answers, strict=True):
        if not isinstance(answer, BaseException):
            results.append((slot.use.row.id, answer))
        elif isinstance(answer, Failed | TimeoutError):
            failures.append(f"{slot.use.row.id}: {str(answer) or 'it took too long'}")
        else:
            raise answer
    if failures and not results:
        raise Failed("\n".join(failures))
    return results


async def _asked(pool: Pool, slot: Slot, errand: Errand, method: str, params: Any, within: float) -> Any:
    end = time.monotonic() + within
    async with asyncio.timeout(within):
        with pool.at_work(slot):
            client = await pool.client(slot)
            if client is None:
                raise Failed(slot.reason or "it does not run")
            if not client.can(method):
                raise Failed(f"it does not answer {method}")
            if errand.content is not None and slot.is_newer(errand.path, errand.ticket):
                client.open(errand.path, errand.content, saved=errand.saved)
            return await client.request(method, params, max(end - time.monotonic(), 0.001))

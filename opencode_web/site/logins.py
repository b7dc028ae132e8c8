"""The ends of browsers' logins in rows: over a restart, and for every process that serves the same data."""

from __future__ import annotations

import asyncio
import logging

from django.db import DatabaseError

from opencode_web.site.security.cookies import LIFETIME
from opencode_web.site.security.logins import End, Logins
from opencode_web.site.security.people import People
from sessions.core.db import in_db, in_db_sync
from sessions.core.store import logins as store

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""Between two looks at what other processes ended."""


async def _remember(end: End) -> None:
    await in_db(store.end, end.id, end.at, end.at - LIFETIME)


logins = Logins(_remember)


def read() -> None:
    """What was ended before this start; call it before anything is served, without a loop."""
    logins.learn(End(*end) for end in in_db_sync(store.ended))


async def watch(people: People) -> None:
    """Look again and again whether all who have something open may still have it: the rows of people are
    changed by other processes too."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            if names := logins.names():
                logins.review(await people.standing(names))
        except DatabaseError:
            logger.exception("who may still have open what they have cannot be looked up")


async def follow() -> None:
    """Look again and again, where other processes serve the same data."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            logins.learn(End(*end) for end in await in_db(store.ended))
        except DatabaseError:  # locked for long, say: the next look finds it
            logger.exception("what logins have ended cannot be looked up")

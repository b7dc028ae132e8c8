"""Brings the index up to date in the background: an older database, what was imported, a fault."""

from __future__ import annotations

import asyncio
import logging
import time

from django.db import DatabaseError

from sessions.core.db import in_db
from sessions.core.store import index

logger = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
BATCH = 25
"""Messages in one transaction: others wait for its end, some milliseconds."""


async def run() -> None:
    """For as long as the process lives."""
    prepared = False
    while True:
        try:
            if not prepared:
                await in_db(index.prepare)
                prepared = True
            await catch_up()
        except DatabaseError as error:  # a full disk, another process that holds the database
            logger.warning("the index of conversations is behind: %s", error)
        await asyncio.sleep(LOOK_SECONDS)


async def catch_up() -> None:
    """Put in all that is due. Turns and pages have the database at least half of the time meanwhile. Raises
    DatabaseError."""
    while True:
        began = time.monotonic()
        if not await in_db(index.catch_up, BATCH):
            return
        await asyncio.sleep(time.monotonic() - began)

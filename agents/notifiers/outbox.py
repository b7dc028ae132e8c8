"""What carries the outbox out: one task of each process that serves or works; the rows say who does what."""

from __future__ import annotations

import asyncio
import logging

from django.conf import settings
from django.db import DatabaseError
from django.utils.translation import override

from agents.notifiers.formats import FORMATS
from agents.notifiers.message import message, test_message
from agents.notifiers.sending import NotSent, send
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import Notifier
from sessions.core.principal import named, sees
from sessions.core.store import notifiers
from sessions.core.store.notifiers import Claimed, News, NotifierRefused

logger = logging.getLogger(__name__)

AT_ONCE = 8
LOOK_SECONDS = 30.0
"""Between two looks, where no hint came: another process may have written."""
_TIDY_MS = 24 * 3_600_000


async def run() -> None:
    """Send what is due, for as long as the process works."""
    async with bus.subscribe(wants=lambda event: event.type == notifiers.DUE) as mailbox:
        tidied = 0
        while True:
            pause = LOOK_SECONDS
            try:
                if now() - tidied > _TIDY_MS:
                    await in_db(notifiers.tidy)
                    tidied = now()
                while await send_due():
                    pass
                pause = await _pause()
            except DatabaseError:  # locked for long, say: the next look finds it
                logger.exception("what is to be told cannot be looked up")
            await mailbox.take(pause)
            mailbox.overflowed = False


async def send_due() -> bool:
    """Try what is due now; whether there was anything."""
    claimed = await in_db(notifiers.claim, AT_ONCE)
    # What is on its way when the process is told to end may still be noted as taken.
    await asyncio.shield(asyncio.gather(*map(_deliver, claimed)))
    return bool(claimed)


async def _pause() -> float:
    moment = await in_db(notifiers.next_due)
    return LOOK_SECONDS if moment is None else min(max(moment - now(), 0) / 1000, LOOK_SECONDS)


async def _deliver(claimed: Claimed) -> None:
    """In the language of its person, who may read why it failed."""
    notifier = claimed.notifier
    with override(notifier.language or None):
        try:
            news = await in_db(_for_its_person, claimed)
            if news:
                target = await in_db(notifiers.target_of, notifier)
                await send(notifier.format, message(claimed.delivery.id, news, notifier), target)
            await in_db(notifiers.sent, claimed)
        except NotSent as problem:
            if problem.gone:
                await in_db(notifiers.remove, notifier)
                return
            logger.info("%s was not told: %s", notifier.id, problem)
            words, again = str(problem), problem.again
            await in_db(notifiers.failed, claimed, words, again=again, seconds=problem.seconds)
        except NotifierRefused as problem:
            await in_db(notifiers.failed, claimed, str(problem), again=False)
        except Exception as problem:
            logger.exception("%s could not be told", notifier.id)
            await in_db(notifiers.failed, claimed, type(problem).__name__, again=True)


def _for_its_person(claimed: Claimed) -> list[News]:
    """What the person whose notifier it is may see now. On the ORM's thread."""
    if not settings.PEOPLE:
        return claimed.news
    person = named(claimed.notifier.person)
    return [one for one in claimed.news if person is not None and sees(person, one.project)]


async def test(notifier: Notifier) -> str:
    """Send a test now, and note how it went; empty, or why it was not taken."""
    try:
        target = await in_db(notifiers.target_of, notifier)
        await send(notifier.format, test_message(notifier), target)
    except (NotSent, NotifierRefused) as problem:
        await in_db(notifiers.note, notifier.id, "failed", str(problem))
        return str(problem)
    await in_db(notifiers.note, notifier.id, "sent", "")
    return ""


def formats() -> list[str]:
    """Those that a person may set up here by hand."""
    left_out = {"push", *(("command",) if settings.PEOPLE else ())}
    return [name for name in FORMATS if name not in left_out]

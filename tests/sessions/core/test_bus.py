"""Mailboxes: a loss is told at once, and nobody listens at one that was lost."""

from __future__ import annotations

import asyncio
import gc

from sessions.core import bus


class Crossing(asyncio.Event):
    """Another thread cuts the mailbox off in the moment in which its listener is about to wait."""

    def __init__(self, mailbox: bus.Subscription) -> None:
        super().__init__()
        self._mailbox = mailbox

    def clear(self) -> None:
        self._mailbox.cut_off()
        super().clear()


async def test_a_loss_told_as_the_listener_begins_to_wait_wakes_it() -> None:
    async with bus.subscribe() as mailbox:
        mailbox._wake = Crossing(mailbox)
        mailbox._signalled = True  # by what was taken before
        async with asyncio.timeout(10):
            assert await mailbox.take() == []
        assert mailbox.overflowed


async def test_nobody_listens_at_a_mailbox_that_was_lost() -> None:
    before = len(bus._listeners())
    mailbox = await bus.subscribe().__aenter__()
    assert len(bus._listeners()) == before + 1
    del mailbox
    gc.collect()
    assert len(bus._listeners()) == before

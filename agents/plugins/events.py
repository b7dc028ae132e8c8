"""Bring the events of a project to a plugin's `event` hook, without ever holding up who publishes them."""

from __future__ import annotations

import asyncio
import logging

from agents.plugins.plugin import Plugin
from sessions import bus

logger = logging.getLogger(__name__)

WAITING = 1000
"""Events that may wait for a slow plugin; when there are more, all that wait are passed over."""


class Pump:
    """Runs on the loop that made it, until it is closed."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        while "event" in self._plugin.hooks:
            project = self._plugin.place.project_id
            async with bus.subscribe(project=project, limit=WAITING, wants=_wants) as mailbox:
                await self._pass_on(mailbox)
            if mailbox.overflowed:
                self._plugin.fault("event", f"was too slow: {WAITING} events that waited are passed over")

    async def _pass_on(self, mailbox: bus.Subscription) -> None:
        """Until the mailbox has overflowed."""
        while not mailbox.overflowed:
            for event in await mailbox.take():
                told = {"id": event.id, "type": event.type, "properties": event.properties}
                if "event" not in self._plugin.hooks:
                    return
                await self._plugin.run("event", {"event": told}, None)


def _wants(event: bus.Event) -> bool:
    """Not the news of a plugin's own failure, which would make it fail again."""
    return event.type != "plugin.failed"

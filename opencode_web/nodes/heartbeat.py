"""That a node lives, said by a thread of its own: what the others of its threads do cannot starve it."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Mapping

from django.db import DatabaseError, InterfaceError, connections

from opencode_web.nodes import registry
from opencode_web.nodes.registry import Membership
from opencode_web.team import ALIAS

logger = logging.getLogger(__name__)

SECONDS = 2.0


class Heartbeat:
    """`load` is asked before each beat, from the thread."""

    def __init__(self, member: Membership, load: Callable[[], Mapping[str, int]]) -> None:
        self._member = member
        self._load = load
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End in order. Blocks for a moment."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        away = False
        while not self._over.wait(SECONDS):
            try:
                if not registry.beat(self._member, self._load()):
                    logger.error("another start of node %s runs: this one ends", self._member.name)
                    os.kill(os.getpid(), signal.SIGTERM)
                    return
                away = False
            except (DatabaseError, InterfaceError) as error:
                if not away:
                    logger.warning("the beat of node %s did not arrive: %s", self._member.name, error)
                away = True
                connections[ALIAS].close()
        try:
            registry.leave(self._member)
        except (DatabaseError, InterfaceError):
            logger.info("node %s could not say that it ends", self._member.name)
        finally:
            connections[ALIAS].close()

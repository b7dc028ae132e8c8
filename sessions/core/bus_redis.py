"""The bus between processes: what one publishes, the listeners of the others hear, through Redis Pub/Sub.

Two threads of its own, so that Redis can stall neither a turn nor a page. Whenever events may have been
missed, all listeners are cut off and read the rows again.
"""

from __future__ import annotations

import json
import logging
import queue
import secrets
import threading
import time
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sessions.core import bus

if TYPE_CHECKING:
    from redis import Redis

logger = logging.getLogger(__name__)

WAITING_EVENTS = 10_000
BATCH = 256
PAUSE_SECONDS = 1.0
"""Between two tries, and at most what `stop` waits for either thread."""

OCCUPIED = "opencode-web.installation"
"""The key that names the installation which uses this database of Redis, as long as one of its processes
lives: one with another secret would name its channels otherwise, and hear nothing."""
OCCUPIED_SECONDS = 30

_FIELDS = [field.name for field in fields(bus.Event)]
"""By name: a process of another version may have others."""


def installation(secret: str) -> str:
    """Names an installation and does not tell its secret."""
    return f"opencode-web-{sha256(secret.encode()).hexdigest()[:16]}"


def occupy(client: Redis, name: str) -> bool:
    """Take this database of Redis for an installation, for a while; False when another one has it."""
    return bool(client.set(OCCUPIED, name, nx=True, ex=OCCUPIED_SECONDS)) or _is_ours(client, name)


def _is_ours(client: Redis, name: str) -> bool:
    held = client.get(OCCUPIED)
    if held is not None and held != name.encode():
        return False
    client.set(OCCUPIED, name, ex=OCCUPIED_SECONDS)
    return True


class RedisBus:
    """`url` is Redis's, `channel` the Pub/Sub channel that all processes of one installation share."""

    def __init__(self, url: str, channel: str, name: str) -> None:
        self._url = url
        self._name = name
        self._occupied = 0.0
        self._channel = channel
        self._origin = secrets.token_hex(8)
        self._outgoing: queue.Queue[bus.Event | None] = queue.Queue(WAITING_EVENTS)
        self._missed = False
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(target=work, name=f"bus {work.__name__}", daemon=True)
            for work in (self._send, self._receive)
        ]

    def start(self) -> None:
        """Begin to send and to hear. Raises redis.RedisError when Redis cannot be reached."""
        from redis import Redis

        # Without a limit: an idle subscription is no dead one.
        self._client: Redis = Redis.from_url(self._url, socket_timeout=None, socket_keepalive=True)
        self._pubsub = self._client.pubsub()  # type: ignore[no-untyped-call]
        self._pubsub.subscribe(self._channel)
        self._pubsub.get_message(timeout=PAUSE_SECONDS)  # Redis says that the subscription stands
        for thread in self._threads:
            thread.start()
        bus.relay(self._enqueue)

    def stop(self) -> None:
        """Send what waits, as far as that goes quickly, and end."""
        bus.relay(None)
        self._closing.set()
        self._enqueue(None)
        for thread in self._threads:
            thread.join(PAUSE_SECONDS)

    def _enqueue(self, event: bus.Event | None) -> None:
        """Called from any thread; never blocks, never raises."""
        try:
            self._outgoing.put_nowait(event)
        except queue.Full:
            self._missed = True

    def _send(self) -> None:
        from redis import RedisError

        while not (self._closing.is_set() and self._outgoing.empty()):
            events = self._batch()
            if missed := self._missed:
                self._missed = False
            try:
                self._client.publish(self._channel, self._encode(events, missed))
            except RedisError as error:
                logger.warning("events could not be sent to other processes: %s", error)
                self._missed = True
                self._closing.wait(PAUSE_SECONDS)
            except Exception:  # of ours: what comes later goes out all the same
                logger.exception("events could not be put into words for other processes")
                self._missed = True

    def _batch(self) -> list[bus.Event]:
        """What waits; waits for it unless there is a loss to tell about."""
        events = []
        try:
            events.append(self._outgoing.get(block=not self._missed))
            while len(events) < BATCH:
                events.append(self._outgoing.get_nowait())
        except queue.Empty:
            pass
        return [event for event in events if event is not None]

    def _encode(self, events: list[bus.Event], missed: bool) -> str:
        values = [[getattr(event, name) for name in _FIELDS] for event in events]
        return json.dumps({"origin": self._origin, "missed": missed, "fields": _FIELDS, "events": values})

    def _receive(self) -> None:
        from redis import RedisError

        while not self._closing.is_set():
            try:
                message = self._pubsub.get_message(timeout=PAUSE_SECONDS)
                self._occupy()
                if message is not None:
                    self._hear(message)
            except RedisError as error:
                logger.warning("events of other processes cannot be heard: %s", error)
                self._closing.wait(PAUSE_SECONDS)
            except Exception:  # a message that is not understood ends the hearing of no other
                logger.exception("what another process told is not understood")
                bus.cut_off()
        self._pubsub.close()

    def _occupy(self) -> None:
        if time.monotonic() > self._occupied + OCCUPIED_SECONDS / 3:
            self._occupied = time.monotonic()
            if not occupy(self._client, self._name):
                logger.error("an installation with another secret uses the same Redis")

    def _hear(self, message: dict[str, Any]) -> None:
        if message["type"] == "subscribe":  # again: the connection was lost
            bus.cut_off()
            return
        content = json.loads(message["data"])
        if content["origin"] == self._origin:
            return
        for values in content["events"]:
            given = dict(zip(content["fields"], values, strict=True))
            bus.deliver(bus.Event(**{name: given[name] for name in _FIELDS if name in given}))
        if content["missed"]:
            bus.cut_off()

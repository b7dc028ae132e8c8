"""The bus through a real Redis; a bare client stands for the other process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from redis import Redis

from sessions.core import bus, bus_redis
from sessions.core.bus import Event
from sessions.core.bus_redis import RedisBus
from tests.redis_server import RedisServer

CHANNEL = "events-of-a-test"
PATIENCE = 20.0


@contextmanager
def started(redis: RedisServer) -> Iterator[None]:
    joined = RedisBus(redis.url, CHANNEL, "an installation")
    joined.start()
    try:
        yield
    finally:
        joined.stop()


def from_another(events: list[list[Any]], missed: bool = False) -> str:
    told = {"origin": "another", "missed": missed, "fields": bus_redis._FIELDS, "events": events}
    return json.dumps(told)


async def test_events_go_out_and_come_in_once(redis: RedisServer) -> None:
    with Redis.from_url(redis.url) as client, client.pubsub() as listening, started(redis):
        listening.subscribe(CHANNEL)
        listening.get_message(timeout=PATIENCE)
        async with bus.subscribe(project="prj") as mailbox:
            ours = Event("message.part.delta", {"delta": "half an emoji \ud83d"}, None, "prj", "ses")
            bus.publish(ours)
            sent = listening.get_message(timeout=PATIENCE)
            assert sent is not None
            ((*values,),) = json.loads(sent["data"])["events"]
            theirs = [*values[:-1], "evt_theirs"]
            elsewhere = [*values[:3], "another project", *values[4:-1], "evt_elsewhere"]
            client.publish(CHANNEL, from_another([elsewhere, theirs]))
            heard: list[Event] = []
            while len(heard) < 2:
                heard += await mailbox.take(PATIENCE)
            assert [event.id for event in heard] == [ours.id, "evt_theirs"]
            assert heard[1].properties == ours.properties
            assert not mailbox.overflowed
            client.publish(CHANNEL, from_another([], missed=True))
            assert await mailbox.take(PATIENCE) == []
            assert mailbox.overflowed


async def test_what_is_not_understood_is_told_as_missed_and_ends_nothing(redis: RedisServer) -> None:
    with Redis.from_url(redis.url) as client, started(redis):
        async with bus.subscribe() as mailbox:
            for odd in (
                '{"origin": "older", "missed": false, "events": [["session.idle", {}]]}',
                "no JSON",
                "[]",
            ):
                client.publish(CHANNEL, odd)
                assert await mailbox.take(PATIENCE) == []
                assert mailbox.overflowed
                mailbox.overflowed = False
            newer = {
                "fields": ["of_tomorrow", "properties", "type"],
                "events": [[1, {"n": 1}, "session.idle"]],
            }
            client.publish(CHANNEL, json.dumps({"origin": "newer", "missed": False, **newer}))
            (heard,) = await mailbox.take(PATIENCE)
            assert (heard.type, heard.properties) == ("session.idle", {"n": 1})


async def test_what_cannot_be_sent_holds_up_nothing(redis: RedisServer) -> None:
    with Redis.from_url(redis.url) as client, client.pubsub() as listening, started(redis):
        listening.subscribe(CHANNEL)
        listening.get_message(timeout=PATIENCE)
        bus.publish(Event("session.idle", {"odd": object()}))
        missed = listening.get_message(timeout=PATIENCE)
        assert missed is not None
        assert json.loads(missed["data"])["missed"]
        bus.publish(Event("session.idle", {"n": 1}))
        sent = listening.get_message(timeout=PATIENCE)
        assert sent is not None
        assert len(json.loads(sent["data"])["events"]) == 1


async def test_a_redis_that_stands_still_blocks_nobody_and_the_loss_is_told(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_redis, "WAITING_EVENTS", 2)
    with Redis.from_url(redis.url) as client, client.pubsub() as listening, started(redis):
        listening.subscribe(CHANNEL)
        listening.get_message(timeout=PATIENCE)
        async with bus.subscribe() as mailbox:
            events = [Event("session.idle", {"n": number}) for number in range(1000)]
            with redis.standing_still():
                for event in events:
                    bus.publish(event)
            assert await mailbox.take(PATIENCE) == events
        heard = 0
        while (message := listening.get_message(timeout=PATIENCE)) is not None:
            content = json.loads(message["data"])
            heard += len(content["events"])
            if content["missed"]:
                break
        assert message is not None, "the others were never told of the loss"
        assert heard < len(events)


async def test_after_a_lost_connection_listeners_are_cut_off(redis: RedisServer) -> None:
    with started(redis):
        async with bus.subscribe() as mailbox:
            redis.stop()
            await asyncio.to_thread(redis.start)
            assert await mailbox.take(PATIENCE) == []
            assert mailbox.overflowed

"""Instructions at an address: fetched once, revalidated, waited for, given up."""

from __future__ import annotations

import logging

import pytest

from agents.agent.context.source import Unavailable
from agents.agent.context.sources import remote
from agents.agent.context.sources.files import CUT, Document
from agents.agent.context.sources.remote import Remote
from tests.text_server import TextServer


class Clock:
    """`time` of the module under test, which stands still unless it is moved."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(remote, "time", found)
    return found


async def revalidated(addresses: Remote, url: str) -> None:
    """The fetch that goes on beside the turns has ended."""
    fetching = addresses._known[url].fetching
    assert fetching is not None
    await fetching


async def test_an_address_is_asked_once_and_revalidated_later(clock: Clock) -> None:
    addresses = Remote()
    async with TextServer("Be brief.") as server:
        assert await addresses.document(server.url) == Document(server.url, "Be brief.")
        assert await addresses.document(server.url) == Document(server.url, "Be brief.")
        assert len(server.requests) == 1
        clock.seconds += remote.FRESH_SECONDS
        assert await addresses.document(server.url) == Document(server.url, "Be brief.")
        await revalidated(addresses, server.url)
        assert server.requests[1].headers["if-none-match"]
        server.text = "Be thorough."
        clock.seconds += remote.FRESH_SECONDS
        await addresses.document(server.url)
        await revalidated(addresses, server.url)
        assert await addresses.document(server.url) == Document(server.url, "Be thorough.")


async def test_what_was_fetched_stays_while_the_address_fails(clock: Clock) -> None:
    addresses = Remote()
    async with TextServer("Be brief.") as server:
        await addresses.document(server.url)
        server.status = 500
        clock.seconds += remote.FRESH_SECONDS
        await addresses.document(server.url)
        await revalidated(addresses, server.url)
        assert await addresses.document(server.url) == Document(server.url, "Be brief.")
        server.status = 404
        clock.seconds += remote.FRESH_SECONDS
        await addresses.document(server.url)
        await revalidated(addresses, server.url)
        assert await addresses.document(server.url) is None


async def test_an_address_that_fails_is_waited_for_then_left_out_and_taken_up_again(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    addresses = Remote()
    async with TextServer("Be brief.", status=503) as server:
        waiting = await addresses.document(server.url)
        assert isinstance(waiting, Unavailable)
        assert server.url in waiting.reason
        assert "503" in waiting.reason
        clock.seconds += remote.PATIENCE_SECONDS
        with caplog.at_level(logging.WARNING):
            given_up = await addresses.document(server.url)
        assert isinstance(given_up, Document)
        assert "could not be fetched" in given_up.text
        assert server.url in caplog.text
        server.status = 200
        clock.seconds += remote.FRESH_SECONDS
        await addresses.document(server.url)
        await revalidated(addresses, server.url)
        assert await addresses.document(server.url) == Document(server.url, "Be brief.")


async def test_an_address_that_says_nothing_costs_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "FETCH_SECONDS", 0.05)
    async with TextServer(silent=True) as server:
        waiting = await Remote().document(server.url)
    assert isinstance(waiting, Unavailable)
    assert "no answer" in waiting.reason


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "http://[broken/x", "http://host.invalid:99999/x"])
async def test_an_address_that_cannot_be_reached_is_unavailable(url: str) -> None:
    assert isinstance(await Remote().document(url), Unavailable)


async def test_a_large_answer_is_cut() -> None:
    async with TextServer("x" * (3 * remote.MAX_BODY)) as server:
        found = await Remote().document(server.url)
    assert isinstance(found, Document)
    assert found.text.endswith(CUT)


async def test_an_empty_answer_is_none() -> None:
    async with TextServer(" \n") as server:
        assert await Remote().document(server.url) is None

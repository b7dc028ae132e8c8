"""A state in which a page is looked at, and the list of them all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Locator, Page, ViewportSize, expect

from tests.e2e.access.scan import NARROW, WIDE
from tests.e2e.access.world import World, settled


@dataclass(frozen=True)
class State:
    """`reach` opens a page and brings it there; `addresses` are as in the security tests' list of pages."""

    name: str
    reach: Callable[[World], Awaitable[Page]]
    addresses: tuple[str, ...]
    sizes: tuple[ViewportSize, ...]


STATES: list[State] = []


def state(
    *addresses: str, sizes: tuple[ViewportSize, ...] = (WIDE, NARROW)
) -> Callable[[Callable[[World], Awaitable[Page]]], None]:
    def listed(reach: Callable[[World], Awaitable[Page]]) -> None:
        STATES.append(State(getattr(reach, "__name__", ""), reach, addresses, sizes))

    return listed


async def shown(page: Page, place: Locator) -> Page:
    """The page once this is to be seen on it."""
    await expect(place.first).to_be_visible()
    await settled(page)
    return page


async def dialog(page: Page, opener: Locator) -> Page:
    await opener.click()
    return await shown(page, page.locator("#dialog dialog"))

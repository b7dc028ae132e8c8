from __future__ import annotations

import asyncio

import pytest

from sessions.core.coalescing import Coalesced


async def test_who_asks_while_it_is_done_gets_what_is_begun_later_and_shares_it() -> None:
    shared: Coalesced[int] = Coalesced()
    begun: list[int] = []
    go_on = [asyncio.Event() for _ in range(3)]

    async def work() -> int:
        number = len(begun)
        begun.append(number)
        await go_on[number].wait()
        return number

    first = [asyncio.create_task(shared.get("a", work)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert begun == [0]
    second = [asyncio.create_task(shared.get("a", work)) for _ in range(4)]
    other = asyncio.create_task(shared.get("b", work))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert begun == [0, 1], "another key waits for nobody"
    go_on[1].set()
    assert await other == 1
    go_on[0].set()
    assert await asyncio.gather(*first) == [0, 0, 0]
    go_on[2].set()
    assert await asyncio.gather(*second) == [2, 2, 2, 2]


async def test_one_who_is_stopped_takes_it_from_nobody_and_a_failure_is_everybodys() -> None:
    shared: Coalesced[int] = Coalesced()
    go_on = asyncio.Event()

    async def fails() -> int:
        await go_on.wait()
        raise ValueError("no")

    tasks = [asyncio.create_task(shared.get(1, fails)) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    go_on.set()
    for task in tasks[1:]:
        with pytest.raises(ValueError, match="no"):
            await task

    async def works() -> int:
        return 7

    assert await shared.get(1, works) == 7

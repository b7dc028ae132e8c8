"""A sandbox that the programs of a turn share: what they share, and what gets away from it (nothing)."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from agents.toolkit.sandbox import box as boxes
from agents.toolkit.sandbox import door, probe
from agents.toolkit.sandbox.ports import NotThere
from agents.toolkit.shared.process import CannotStart
from sessions.core import bus
from sessions.core.above import Port
from sessions.core.platform.processes import processes
from tests.agents.toolkit.sandbox.scene import Scene, is_gone

pytestmark = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
SERVER = "-m http.server --bind 127.0.0.1 8123"
ASK = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8123/served').read().decode())"
UNTIL = "for i in $(seq 200); do {} && break; sleep 0.05; done"


@pytest_asyncio.fixture(autouse=True)
async def laid_out(place: Scene) -> AsyncIterator[None]:
    place.lay_out()
    yield
    await door.close()


async def run(place: Scene, line: str, *, seconds: float = 30) -> str:
    """Within a turn."""
    return (await place.run(line, "offline", seconds=seconds, rests=False))[0]


def living(place: Scene) -> list[str]:
    """The command lines of what works in the place."""
    found = []
    for pid in processes():
        with suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(place.root):
                found.append(line)
    return found


SESSION = "ses_test"
Want = Callable[[tuple[Port, ...]], bool]


async def ports(want: Want) -> tuple[Port, ...]:
    """Those that are shown of the session, once they are as wanted."""
    async with bus.subscribe(session=SESSION) as news:
        async with asyncio.timeout(20):
            while not want(found := door.ports(SESSION)):
                await news.take()
    return found


async def test_a_port_that_is_listened_on_is_reached_once_a_person_opens_a_way(place: Scene) -> None:
    await run(place, f"mkdir served; echo -n here > served/index.html; python3 {SERVER} & sleep 0.1")
    (port,) = await ports(bool)
    assert (port.number, port.way) == (8123, 0)
    taken = socket.create_server(("127.0.0.1", 8123))
    with taken, pytest.raises(NotThere):
        await door.open_port(SESSION, 8124)
    with socket.create_server(("127.0.0.1", 8123)):
        way = await door.open_port(SESSION, 8123)
    assert way not in (0, 8123)
    assert door.ports(SESSION)[0].way == way == await door.open_port(SESSION, 8123)
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"http://127.0.0.1:{way}/served/")).text == "here"
        door.close_port(SESSION, 8123)
        await ports(lambda found: not found[0].way)
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://127.0.0.1:{way}/served/")
        again = await door.open_port(SESSION, 8123)
        assert (await client.get(f"http://localhost:{again}/served/")).text == "here"
    await run(place, "pkill -f http.server")
    assert await ports(lambda found: not found) == ()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", again), 2)


async def test_a_way_ends_with_the_sandbox(place: Scene) -> None:
    await run(place, "python3 -m http.server --bind ::1 8123 & sleep 0.1")
    await ports(bool)
    way = await door.open_port(SESSION, 8123)
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"http://127.0.0.1:{way}/")).is_success
    await door.close()
    assert door.ports(SESSION) == ()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", way), 2)


async def test_the_ports_of_a_sandbox_stay_when_the_one_before_it_ends(place: Scene) -> None:
    until = "while [ ! -e stop ]; do sleep 0.05; done; kill $!"
    await run(place, f"{{ python3 {SERVER} & {until}; }} & sleep 0.1")
    await ports(bool)
    await place.run(f"python3 {SERVER.replace('8123', '8124')} & sleep 0.1", "project", rests=False)
    await ports(lambda found: found[0].number == 8124)
    async with bus.subscribe(session=SESSION) as news:
        (place.work / "stop").touch()
        async with asyncio.timeout(20):
            await news.take()
    assert [port.number for port in door.ports(SESSION)] == [8124]


def none_lives(place: Scene) -> bool:
    """Waits for it."""
    end = time.monotonic() + 20
    while living(place) and time.monotonic() < end:
        time.sleep(0.02)
    return not living(place)


async def test_a_server_in_the_background_is_reached_by_the_next_command_and_ended_by_it(
    place: Scene,
) -> None:
    (place.work / "served").write_text("Served.")
    await run(place, f"{sys.executable} {SERVER} >/dev/null 2>&1 &")
    await door.rest("ses_test")  # the turn ends, and the server goes on
    said = await run(place, UNTIL.format(f'{sys.executable} -c "{ASK}" 2>/dev/null'))
    assert "Served." in said
    assert "free" in await run(
        place, f"pkill -f 'http[.]server'; {UNTIL.format('! pgrep -f http[.]server')}; echo free"
    )
    await door.rest("ses_test")
    assert await asyncio.to_thread(is_gone, place.work / ".envrc"), "what stood in goes with the last of it"


@pytest.mark.parametrize(
    "hiding",
    [
        "setsid sh -c '{}' </dev/null >/dev/null 2>&1 &",
        "(setsid env -i sh -c '{}' </dev/null >/dev/null 2>&1 &) ;",
        "(setsid env -i sh -c '{}' </dev/null >/dev/null 2>&1 &) ; kill -9 $PPID;",
        "kill -9 -1; (setsid sh -c '{}' </dev/null >/dev/null 2>&1 &) ;",
    ],
)
async def test_nothing_gets_away_from_a_stop(place: Scene, hiding: str) -> None:
    line = (
        hiding.format("echo $$ > pid; sleep 300; echo x > survived")
        + f" {UNTIL.format('[ -e pid ]')}; sleep 300"
    )
    with suppress(CannotStart):  # where its supervisor is gone before it has said that it began
        await run(place, line, seconds=2)
    assert await asyncio.to_thread(none_lives, place)
    assert await run(place, "echo goes on") == "goes on\n"


async def test_processes_that_go_on_forking_end_with_their_time(place: Scene) -> None:
    forking = "f() { [ $1 -gt 0 ] && { f $(($1 - 1)) & sleep 300; }; }; f 300"
    await run(place, forking, seconds=0.5)
    assert await asyncio.to_thread(none_lives, place)


@pytest.mark.parametrize(
    "attempt",
    [
        "kill -9 1",
        "cat /proc/1/mem",
        "cat /proc/1/environ",
        "ls -l /proc/1/fd/",
        f"{sys.executable} -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) and 1)'",
        "cat /proc/$PPID/mem",
        "ls -l /proc/$PPID/fd/",
    ],
)
async def test_the_first_process_and_supervisors_are_out_of_reach(place: Scene, attempt: str) -> None:
    said = await run(place, f"({attempt}) >/dev/null 2>&1 && echo reached; echo $?")
    assert "reached" not in said or attempt == "kill -9 1", "a signal that is sent, and not taken"
    assert await run(place, "echo goes on") == "goes on\n"


async def test_what_is_held_stays_held_where_the_person_puts_another_file_in_its_place(place: Scene) -> None:
    (place.work / "opencode.json").write_text("{}")
    await run(place, "true")
    (place.work / "new").write_text('{"a": 1}')
    (place.work / "new").rename(place.work / "opencode.json")
    said = await run(place, "cat opencode.json; echo x > opencode.json")
    assert '{"a": 1}' in said
    assert (place.work / "opencode.json").read_text() == '{"a": 1}'


async def test_keys_that_come_while_it_lasts_are_out_of_sight(place: Scene) -> None:
    await run(place, "true")
    (place.home / ".vault-token").write_text("LOOT")
    assert "LOOT" not in await run(place, "cat ~/.vault-token")


async def test_one_that_has_died_is_replaced(place: Scene) -> None:
    await run(place, "true")
    (box,) = door._boxes[asyncio.get_running_loop()].open.values()
    box.close()
    assert await run(place, "echo again") == "again\n"


async def test_one_that_another_took_the_place_of_is_closed_as_well(place: Scene) -> None:
    await run(place, f"{sys.executable} {SERVER} >/dev/null 2>&1 &")
    await place.run("true", "project", rests=False)
    assert len(living(place)) > 1
    await door.close()
    assert await asyncio.to_thread(none_lives, place)
    assert await asyncio.to_thread(is_gone, place.work / ".envrc")


async def test_it_ends_by_itself_where_nothing_comes(place: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "IDLE_SECONDS", 0.05)
    await run(place, "true")
    assert await asyncio.to_thread(is_gone, place.work / ".envrc")

"""Where the agent's browser may go: each site by a person's word, some places by nobody's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agents.servers.browser import service
from agents.servers.browser.gate import Gate, is_loopback, origin_of
from agents.toolkit.base import ToolError
from agents.toolkit.permission.errors import PermissionDenied, PermissionRejected
from agents.toolkit.permission.rules import Rule
from agents.toolkit.sandbox import door, probe
from agents.toolkit.sandbox.proxy import Forbidden, Place
from agents.toolkit.sandbox.terms import Terms
from agents.toolkit.shared.environment import shell_environment
from tests.agents.servers.browser.conftest import Hand
from tests.agents.servers.browser.serving import SITE, Shop
from tests.agents.tools.context import DirectContext, turn_in


async def test_each_site_is_asked_about_once(hand: Hand, shop: Shop) -> None:
    await hand.call("open", url=shop.url)
    await hand.call("open", url=f"{shop.url}/second")
    (asked,) = hand.context.asked
    assert (asked.permission, asked.patterns, asked.always) == ("browser", (shop.url,), (shop.url,))
    assert asked.metadata == {"url": shop.url}
    await hand.call("open", url=f"{shop.other}/second")
    assert hand.asked == [shop.url, shop.other]


@pytest.mark.parametrize("way", ["a redirect", "a click", "a script"])
async def test_another_site_is_asked_about_before_it_is_loaded(hand: Hand, shop: Shop, way: str) -> None:
    page = {"a redirect": "/away", "a click": "/", "a script": "/leaves"}[way]

    async def goes() -> None:
        if way == "a redirect":
            await hand.call("open", url=f"{shop.url}{page}")
        else:
            await hand.click("Other shop" if way == "a click" else '"Go"')

    if way != "a redirect":
        await hand.call("open", url=f"{shop.url}{page}")
    else:
        await hand.call("open", url=f"{shop.url}/second")
    hand.context.decision = "reject"
    with pytest.raises(PermissionRejected):
        await goes()
    assert hand.asked == [shop.url, shop.other]
    assert shop.url in await hand.says("look"), "it is where it was"
    hand.context.decision = "allow"
    await goes()
    assert f"{shop.other}/second" in await hand.says("look")
    led = hand.context.asked[-1].metadata
    assert led["url"] == f"{shop.other}/second"
    assert led["from"].startswith(shop.url)


async def test_where_nobody_can_be_asked_the_rules_decide(hand: Hand, shop: Shop) -> None:
    gate = Gate(confined=False)
    with pytest.raises(Forbidden, match="nobody can be asked"):
        await gate.permit("", Place("pictures.example", 80, "10.0.0.1"))
    await gate.permit("", Place("pictures.example", 80))
    hand.context.turn = turn_in(
        hand.context.directory, hand.context.worktree, rules=[Rule("browser", shop.other, "deny")]
    )
    await hand.call("open", url=shop.url)
    hand.context.decision = "deny"
    with pytest.raises(PermissionDenied):
        await hand.call("open", url=shop.other)


async def test_a_private_address_is_asked_about_as_webfetch_does(context: DirectContext) -> None:
    gate = Gate(confined=False)
    place = Place("intranet.example", 80, "10.0.0.1")
    with gate.attended(context):
        await asyncio.gather(*(gate.permit("", place) for _ in range(3)))
        context.decision = "reject"
        with pytest.raises(Forbidden, match="rejected"):
            await gate.permit("", Place("other.example", 80, "10.0.0.1"))
    first, _ = context.asked
    assert (first.permission, first.patterns, first.metadata["address"]) == (
        "private_address",
        ("intranet.example",),
        "10.0.0.1",
    )


REFUSED = {
    "file:///etc/passwd": "Only addresses of http and https",
    "chrome://version": "Only addresses of http and https",
    "data:text/html,x": "Only addresses of http and https",
    "javascript:alert(1)": "Only addresses of http and https",
    "view-source:http://localhost/": "Only addresses of http and https",
    "localhost:3000": "Only addresses of http and https",
    "http://": "Only addresses of http and https",
    "http://a:b@localhost:1/": "user name or password",
    "http://localhost:nine/": "is no address",
    "http://169.254.169.254/latest/meta-data": "where clouds keep the keys",
    "http://[fd00:ec2::254]/": "where clouds keep the keys",
    "http://[::ffff:169.254.169.254]/": "where clouds keep the keys",
    "http://metadata.google.internal./": "where clouds keep the keys",
    "http://100.100.100.200/": "where clouds keep the keys",
    "http://0.0.0.0:3000/": "Open localhost instead",
}


@pytest.mark.parametrize("url", REFUSED)
async def test_some_addresses_are_for_nobody(context: DirectContext, url: str) -> None:
    gate = Gate(confined=False)
    with gate.attended(context), pytest.raises(ToolError, match=REFUSED[url]):
        await gate.admit(url)
    assert not context.asked


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A port of this process, and what came there."""
    came: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await reader.read(100))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield int(server.sockets[0].getsockname()[1]), came


async def test_ports_of_this_program_are_reached_by_no_way(hand: Hand, shop: Shop) -> None:
    async with listening() as (port, came):
        for host in ("localhost", "127.0.0.1", "127.1.2.3", "[::1]", "x.localhost"):
            with pytest.raises(ToolError, match="is this program's own"):
                await hand.call("open", url=f"http://{host}:{port}/")
        with pytest.raises(ToolError, match="is this program's own"):
            await hand.call("open", url=f"http://0x7f000001:{port}/")
        await hand.call("open", url=f"{shop.url}/second")
        async with service.seat(hand.context.session_id) as seat:
            script = f"""Promise.allSettled([
                fetch("http://localhost:{port}/", {{ mode: "no-cors" }}),
                new Promise((yes, no) => (new WebSocket("ws://127.0.0.1:{port}/").onerror = no)),
            ]).then(() => "done")"""
            answer = await seat.there().page._call(
                "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
            )
        assert answer["result"]["value"] == "done"
        assert came == []


async def test_what_is_not_reached_is_told(hand: Hand, shop: Shop) -> None:
    async with listening() as (port, _):
        pass
    with pytest.raises(ToolError, match=f"could not be opened: localhost:{port} cannot be reached"):
        await hand.call("open", url=f"http://localhost:{port}/")
    with pytest.raises(ToolError, match=r"could not be opened: The host no-such-host\.invalid was not found"):
        await hand.call("open", url="http://no-such-host.invalid/")
    with pytest.raises(ToolError, match="could not be opened: net::ERR_TUNNEL"):
        await hand.call("open", url="https://no-such-host.invalid/")
    assert hand.asked[0] == f"http://localhost:{port}"


@pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
async def test_in_the_sandbox_it_is_where_the_commands_are(hand: Hand, shop: Shop) -> None:
    context = hand.context
    context.turn = turn_in(context.directory, context.worktree, terms=Terms(sandbox="project"))
    ports: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def hear(chunk: bytes) -> None:
        ports.set_result(chunk)

    served = asyncio.create_task(
        door.run(
            ["python3", "-c", SITE.read_text().replace("SHOP.read_text()", "''").replace("__file__", "'.'")],
            context.turn,
            cwd=context.directory,
            env=shell_environment(),
            timeout=60,
            abort=context.abort,
            on_output=hear,
        )
    )
    first = int((await asyncio.wait_for(ports, 20)).split()[0])
    assert "'Second'" in await hand.says("open", url=f"http://localhost:{first}/second")
    with pytest.raises(ToolError, match="ERR_CONNECTION_REFUSED"):
        await hand.call("open", url=f"{shop.url}/second")
    context.decisions["network"] = "reject"
    await hand.call("open", url=f"http://localhost:{first}/loads")
    reached = [one for one in context.asked if one.permission == "network"]
    assert [one.patterns for one in reached] == [("pictures.example",)]
    assert "- paragraph: Here" in await hand.says("look")
    context.turn = turn_in(context.directory, context.worktree, terms=Terms(sandbox="offline"))
    with pytest.raises(ToolError, match="The sandbox has no network"):
        await hand.call("open", url="http://pictures.example/")
    context.abort.set()
    await served


def test_origins() -> None:
    assert origin_of("https://Example.org/a?b#c") == "https://example.org:443"
    assert origin_of("http://[::1]:3000/") == "http://[::1]:3000"
    assert origin_of("about:blank") == origin_of("http://x:y/") == ""
    assert [is_loopback(host) for host in ("localhost", "a.localhost.", "127.9.9.9", "::1")] == [True] * 4
    assert not any(map(is_loopback, ("localhost.example", "10.0.0.1", "128.0.0.1", "")))

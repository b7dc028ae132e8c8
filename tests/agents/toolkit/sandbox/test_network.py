"""The way out of a sandbox: who is asked about what, once, and what is never reached."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from agents.toolkit.permission.rules import Rule
from agents.toolkit.sandbox import door, probe
from tests.agents.toolkit.sandbox.outside import Outside
from tests.agents.toolkit.sandbox.scene import Scene

pytestmark = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
GET = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
TUNNEL = """
import base64, http.client, os, sys
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTPS_PROXY"])
name = "Basic " + base64.b64encode(f"{proxy.username}:x".encode()).decode()
connection = http.client.HTTPConnection(proxy.hostname, proxy.port)
headers = {"Proxy-Authorization": name} if len(sys.argv) < 4 else {}
connection.set_tunnel(sys.argv[1], int(sys.argv[2]), headers)
connection.request("GET", "/tunnelled")
print(connection.getresponse().read().decode())
"""
SOCKS = """
import os, socket, sys
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTP_PROXY"])
name = proxy.username.encode()
s = socket.create_connection((proxy.hostname, proxy.port))
s.sendall(b"\\x05\\x02\\x00\\x02")
assert s.recv(2) == b"\\x05\\x02"
s.sendall(b"\\x01" + bytes((len(name),)) + name + b"\\x01x")
assert s.recv(2) == b"\\x01\\x00"
host = sys.argv[1].encode()
s.sendall(b"\\x05\\x01\\x00\\x03" + bytes((len(host),)) + host + (80).to_bytes(2, "big"))
print("said", s.recv(10)[1])
s.sendall(b"GET /socks HTTP/1.0\\r\\n\\r\\n")
print(s.recv(1000).decode())
"""


@pytest_asyncio.fixture
async def outside(place: Scene, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Outside]:
    place.lay_out()
    made = Outside()
    for name in (*PROXIES, *map(str.lower, PROXIES)):
        monkeypatch.delenv(name, raising=False)
    async with made.listening() as address:
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, address)
        yield made
        await door.close()


async def run(place: Scene, outside: Outside, code: str, *arguments: str, **given: Any) -> tuple[str, Any]:
    """A program of Python's within a turn, which a person looks at."""
    quoted = " ".join(f"'{argument}'" for argument in arguments)
    line = f'{sys.executable} -c "$CODE" {quoted} 2>&1'
    place.variables["CODE"] = code
    return await place.run(line, "project", rests=False, ask=outside.ask, **given)


async def test_a_host_is_asked_about_once_for_a_call(place: Scene, outside: Outside) -> None:
    code = f"{GET}; {GET}"
    said, ended = await run(place, outside, code, "http://api.maker.example/a?b=c")
    assert said.count("api.maker.example:80 says: GET /a?b=c HTTP/1.1") == 2, said
    assert "Host: api.maker.example" in said
    assert "proxy" not in said.lower(), "what is between is not told of"
    assert outside.asked == [("network", "api.maker.example", 80)]
    assert ended.refused == ()
    await run(place, outside, GET, "http://api.maker.example/")
    assert len(outside.asked) == 2, "another call"


async def test_what_is_refused_is_said_to_the_program_and_to_the_model(
    place: Scene, outside: Outside
) -> None:
    outside.refused.add("evil.example")
    said, ended = await run(place, outside, GET, "http://evil.example/")
    assert "403" in said
    assert ended.refused == ("evil.example",)
    assert ended.exit_code == 1
    assert not outside.reached


async def test_tunnels_and_socks_are_ways_too(place: Scene, outside: Outside) -> None:
    said, _ = await run(place, outside, TUNNEL, "git.maker.example", "443")
    assert "git.maker.example:443 says: GET /tunnelled" in said
    said, _ = await run(place, outside, TUNNEL, "git.maker.example", "443", "without a name")
    assert "git.maker.example:443 says: GET /tunnelled" in said, "the one call that runs"
    said, _ = await run(place, outside, SOCKS, "socks.maker.example")
    assert "said 0" in said
    assert "socks.maker.example:80 says: GET /socks" in said
    outside.refused.add("no.example")
    said, _ = await run(place, outside, SOCKS, "no.example")
    assert "said 2" in said
    assert [host for _, host, _ in outside.asked] == [
        *("git.maker.example", "git.maker.example", "socks.maker.example", "no.example")
    ]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "127.9.9.9"],  # noqa: S104
)
async def test_this_machine_is_never_reached(place: Scene, outside: Outside, host: str) -> None:
    said, _ = await run(place, outside, TUNNEL, host, place.variables["PORT"])
    assert "403 Forbidden" in said, said
    assert place.calls == 0
    assert not outside.reached


async def test_private_addresses_are_asked_about_in_any_case(place: Scene, outside: Outside) -> None:
    await run(place, outside, TUNNEL, "10.1.2.3", "80")
    assert outside.asked == [("network", "10.1.2.3", 80), ("private_address", "10.1.2.3", 80)]


async def test_time_that_a_person_takes_is_none_of_the_commands(place: Scene, outside: Outside) -> None:
    outside.seconds = 1.5
    said, ended = await run(place, outside, GET, "http://api.maker.example/", seconds=1)
    assert ended.ending == "exited", said
    assert "says: GET" in said


async def test_rules_decide_for_what_goes_on_in_the_background(place: Scene, outside: Outside) -> None:
    later = 'while [ ! -e go ]; do sleep 0.05; done; {0} -c "$CODE" {1} > said 2>&1; touch done'
    place.variables["CODE"] = GET
    rules = [Rule("network", "*", "ask"), Rule("network", "*.maker.example", "allow")]
    for host, wanted in (("api.maker.example", "says: GET"), ("other.example", "403")):
        place.lay_out()
        line = f"({later.format(sys.executable, f'http://{host}/')}) >/dev/null 2>&1 &"
        await place.run(line, "project", rests=False, ask=outside.ask, rules=rules)
        (place.work / "go").touch()
        async with asyncio.timeout(20):
            while not (place.work / "done").exists():
                await place.run("true", "project", rests=False, ask=outside.ask, rules=rules)
        assert wanted in (place.work / "said").read_text()
        await door.close()
    assert not outside.asked


async def test_nothing_goes_past_the_proxy(place: Scene, outside: Outside) -> None:
    code = "import socket, sys; socket.create_connection((sys.argv[1], 80), 3)"
    for host in ("1.1.1.1", "10.1.2.3"):
        said, _ = await run(place, outside, code, host)
        assert "unreachable" in said.lower()

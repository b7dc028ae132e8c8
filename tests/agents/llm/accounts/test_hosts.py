from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from agents.llm.accounts.flows.base import InvalidInput
from agents.llm.accounts.flows.copilot import enterprise_domain


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The addresses that names have, in the place of DNS."""
    known: dict[str, str] = {}

    async def getaddrinfo(_: Any, host: str, port: int, **__: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], port))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return known


@pytest.mark.parametrize(
    "given", ["company.ghe.com", " https://Company.GHE.com/ ", "https://company.ghe.com", "company.ghe.com."]
)
async def test_a_domain_may_be_written_as_an_address(resolver: dict[str, str], given: str) -> None:
    resolver["company.ghe.com"] = "140.82.121.4"
    assert await enterprise_domain(given) == "company.ghe.com"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "not a host",
        "localhost",
        "a..b",
        "-a.com",
        "company.ghe.com/path",
        "company.ghe.com:8443",
        "user@company.ghe.com",
        "http://company.ghe.com",
        "127.0.0.1",
        "10.0.0.8",
        "2130706433",
        "0x7f.0.0.1",
        "[::1]",
        "a." + "b" * 64 + ".com",
        "x\n.com",
        "${env}.com",
    ],
)
async def test_what_is_no_domain_is_refused(
    resolver: dict[str, str], monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("OPENCODE_WEB_PRIVATE_HOSTS", "1")
    with pytest.raises(InvalidInput, match="no domain") as caught:
        await enterprise_domain(given)
    assert caught.value.field == "enterpriseUrl"


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "::1", "100.64.0.1"]
)
async def test_a_private_address_is_refused_unless_it_is_allowed(
    resolver: dict[str, str], monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    resolver["github.company.com"] = address
    with pytest.raises(InvalidInput, match="private network"):
        await enterprise_domain("github.company.com")
    monkeypatch.setenv("OPENCODE_WEB_PRIVATE_HOSTS", "1")
    assert await enterprise_domain("github.company.com") == "github.company.com"


async def test_a_name_that_is_not_found_is_left_to_the_request(resolver: dict[str, str]) -> None:
    assert await enterprise_domain("nobody.example.com") == "nobody.example.com"
    with pytest.raises(InvalidInput):
        await enterprise_domain("box.local")

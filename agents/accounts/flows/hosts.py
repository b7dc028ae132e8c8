"""The domain of a company's GitHub, as a person gives it."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket

from agents.accounts.endpoints import private_hosts
from agents.accounts.flows.base import InvalidInput

FIELD = "enterpriseUrl"
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}$)(?:{_LABEL}\.)+(?!\d+$){_LABEL}")
"""A host name with a dot in it, and no address (RFC 1123, section 2.1)."""


async def enterprise_domain(given: str) -> str:
    """The bare domain of `company.ghe.com` or `https://company.ghe.com/`.

    Raises InvalidInput for anything else, and for a name of this machine or of a private network: a request
    with a secret in it would go there. OPENCODE_WEB_PRIVATE_HOSTS allows those.
    """
    name = given.strip().lower().removeprefix("https://").removesuffix("/").removesuffix(".")
    if not _NAME.fullmatch(name):
        raise InvalidInput(FIELD, "This is no domain. It looks like company.ghe.com.")
    if not private_hosts() and not await _is_public(name):
        raise InvalidInput(
            FIELD,
            f"{name} is at an address of this machine or of a private network."
            " Set OPENCODE_WEB_PRIVATE_HOSTS=1 to allow that.",
        )
    return name


async def _is_public(name: str) -> bool:
    """Whether no address of the name is private. One that nobody knows is left to the request to report."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(name, 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return not name.endswith((".localhost", ".local", ".internal"))
    addresses = [str(item[4][0]).partition("%")[0] for item in found]
    return all(ipaddress.ip_address(address).is_global for address in addresses)

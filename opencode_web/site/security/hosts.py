"""Rule 3: which Host header a request may carry. An exact list, so that a rebound DNS name is refused."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
DEFAULT_HTTP_PORT = 80


def allowed_hosts(hostname: str, port: int, extra: Iterable[str] = ()) -> frozenset[bytes]:
    """Every accepted Host header, in lower case.

    The loopback names and the bound hostname with the port, and `extra` as they stand and with the port.
    Binding to all addresses adds no name. Raise ValueError for a wildcard in `extra`.
    """
    names = {*LOOPBACK_NAMES}
    if not is_wildcard(hostname):
        names.add(f"[{hostname}]" if ":" in hostname else hostname)
    extra = [name.strip() for name in extra if name.strip()]
    if any("*" in name for name in extra):
        raise ValueError("a wildcard is no host name; name each host")
    hosts = {f"{name}:{port}" for name in (*names, *(name for name in extra if not _has_port(name)))}
    hosts.update(extra)
    if port == DEFAULT_HTTP_PORT:
        hosts.update(names)
    return frozenset(host.lower().encode("idna" if not host.isascii() else "ascii") for host in hosts)


def is_wildcard(hostname: str) -> bool:
    """Whether binding to it means all addresses of the machine."""
    try:
        return ip_address(hostname).is_unspecified
    except ValueError:
        return hostname == ""


def is_loopback(hostname: str) -> bool:
    """Whether only this machine can reach a server bound to it."""
    try:
        return ip_address(hostname).is_loopback
    except ValueError:
        return hostname == "localhost"


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdigit() and not name.endswith("]")

"""Ports that processes of this machine listen on, as its loopback reaches them."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Listener:
    """`address` is where it is reached: of the loopback. `folder` is where its process works."""

    port: int
    address: str
    program: str
    folder: Path


def listeners(pids: Set[int]) -> list[Listener]:
    """What these processes listen on, by port. Left out are ports of this process, those where somebody else
    would be reached, and those of another network namespace. Blocks."""
    if not pids:
        return []
    bound = list(_listening(pids))
    own = {port for _, port, pid in bound if pid == os.getpid()} | _own()
    others = {(address, port) for address, port, pid in bound if pid not in pids}
    found: dict[int, Listener] = {}
    for address, port, pid in sorted(bound, key=lambda one: ":" in one[0]):  # the older protocol first
        reached = _reached(address)
        if pid not in pids or port in own or port in found or not reached or (reached, port) in others:
            continue
        program, folder = _process(pid)
        found[port] = Listener(port, reached, program, folder)
    return [found[port] for port in sorted(found)]


_OURS = frozenset(("opencode-web", "opencode_web"))


def own_ports() -> set[int]:
    """Ports that this program listens on, also by other processes of it: a front, the pages beside a worker.
    Blocks."""
    import psutil

    found = _own()
    with suppress(psutil.Error, OSError):  # macOS tells of others to root alone
        every: list[Any] = psutil.net_connections("tcp")
        listen = (one for one in every if one.status == psutil.CONN_LISTEN and one.pid)
        found.update(int(one.laddr.port) for one in listen if _is_ours(one.pid))
    return found


def _is_ours(pid: int) -> bool:
    import psutil

    with suppress(psutil.Error, OSError):
        return any(Path(word).name in _OURS for word in psutil.Process(pid).cmdline()[:4])
    return False


def _listening(pids: Set[int]) -> Iterator[tuple[str, int, int]]:
    """Address, port and process; of everybody where the system says that."""
    import psutil  # some milliseconds: not before somebody asks

    found: list[tuple[Any, int]] = []
    if sys.platform != "darwin":  # where that takes root
        found = [(one, one.pid or 0) for one in psutil.net_connections("tcp")]
    else:
        for pid in pids:
            with suppress(psutil.Error, OSError):
                found += [(one, pid) for one in psutil.Process(pid).net_connections("tcp")]
    for one, pid in found:
        if one.status == psutil.CONN_LISTEN:
            yield str(one.laddr.ip), int(one.laddr.port), pid


def _own() -> set[int]:
    import psutil

    with suppress(psutil.Error, OSError):
        mine: list[Any] = psutil.Process().net_connections("tcp")
        return {int(one.laddr.port) for one in mine if one.status == psutil.CONN_LISTEN}
    return set()


def _reached(address: str) -> str:
    """Where the loopback reaches what is bound to an address; empty where it does not."""
    with suppress(ValueError):
        bound = ip_address(address.partition("%")[0])
        if bound.is_loopback:
            return str(bound)
        if bound.is_unspecified:
            return "::1" if bound.version == 6 and socket.has_ipv6 else "127.0.0.1"
    return ""


def _process(pid: int) -> tuple[str, Path]:
    """Its name and folder, as far as they are shown."""
    import psutil

    name, folder = "", Path()
    with suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        name = process.name()
        folder = Path(process.cwd())
    return name, folder

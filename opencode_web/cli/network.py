"""Where the server listens: command line first, then the user's own configuration, then the defaults."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from agents.config import ServerConfig
from opencode_web.cli.stop import Stop
from opencode_web.security.hosts import is_loopback, is_wildcard
from opencode_web.server import PortTaken, find_port, resolve

DEFAULT_HOSTNAME = "127.0.0.1"
DEFAULT_PORT = 4096
PORTS_TRIED = 100


@dataclass(frozen=True, slots=True)
class Network:
    """`hostname` as the user wrote it, `address` to bind to, and a port that was free a moment ago."""

    hostname: str
    address: str
    port: int
    cors: list[str]

    @property
    def url(self) -> str:
        """Where this machine reaches the server."""
        name = DEFAULT_HOSTNAME if is_wildcard(self.hostname) else self.hostname
        return f"http://[{name}]:{self.port}" if ":" in name else f"http://{name}:{self.port}"


def choose(arguments: argparse.Namespace, config: ServerConfig, environ: Mapping[str, str]) -> Network:
    """Raise Stop when the port is taken, or others could reach the server and there is no password."""
    hostname: str = arguments.hostname or config.hostname or DEFAULT_HOSTNAME
    if not is_loopback(hostname) and not environ.get("OPENCODE_SERVER_PASSWORD"):
        raise Stop(
            f"{hostname} can be reached from other machines: set OPENCODE_SERVER_PASSWORD first, "
            f"or leave --hostname out to listen on this machine only",
            2,
        )
    wanted = config.port if arguments.port is None else arguments.port
    try:
        address = resolve(hostname)
        port = find_port(address, DEFAULT_PORT, PORTS_TRIED) if wanted is None else find_port(address, wanted)
    except PortTaken as error:
        raise Stop(str(error)) from error
    return Network(hostname, address, port, [*config.cors, *arguments.cors])

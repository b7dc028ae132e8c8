"""The server of this process, as it was started, for the few pages that tell of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opencode_web.site.security.asgi import Application
from opencode_web.site.security.hosts import LOOPBACK_NAMES
from opencode_web.site.security.policy import Policy

Listen = Callable[[Callable[[int], Application], str], tuple[int, Callable[[], None]]]
"""`opencode_web.site.server.listen`."""


@dataclass(frozen=True, slots=True)
class Served:
    """`hostname` is what it listens on, `url` where this machine reaches it; `listen` serves something else
    beside it."""

    hostname: str
    url: str
    policy: Policy
    listen: Listen

    @property
    def names(self) -> list[str]:
        """By which others know it, without its own port."""
        port = f":{self.policy.port}"
        found = (host.decode().removesuffix(port) for host in self.policy.hosts)
        return sorted({name for name in found if name not in LOOPBACK_NAMES})


_served: list[Served] = []


def begin(served: Served) -> None:
    """It was started."""
    _served[:] = [served]


def served() -> Served | None:
    """None where this process serves nothing."""
    return _served[0] if _served else None

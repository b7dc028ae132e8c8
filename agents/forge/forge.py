"""What can be asked of a forge and done at it, whichever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from types import TracebackType
from typing import ClassVar, Self

from agents.forge.hosts import Host
from agents.forge.rest import Rest
from agents.forge.shapes import Check, Comment, Item, Kind, Listing, Method, Settings

LOG_END = 12_000
"""Bytes of a log that are of use: what failed is said last."""


class Forge(ABC):
    """The repository at a `path` of a host, as long as it is entered. Every method raises ForgeError."""

    api: ClassVar[str]
    drafts: ClassVar[str] = ""
    """What stands before the title of a draft, where the forge knows one by that."""

    def __init__(self, host: Host, path: str) -> None:
        self.host = host
        self.path = path
        self.rest = Rest(host, self.interface(host), self.headers(host) if host.token else {})

    async def __aenter__(self) -> Self:
        await self.rest.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.rest.__aexit__(kind, error, trace)

    def interface(self, host: Host) -> str:
        """The address of its interface."""
        return f"{host.address}{self.api}"

    def titled(self, title: str, *, draft: bool) -> str:
        """The title of a pull request that may be a draft."""
        return f"{self.drafts}{title}" if draft else title

    @abstractmethod
    def headers(self, host: Host) -> dict[str, str]:
        """By which the token is shown."""

    @abstractmethod
    async def who(self) -> str:
        """Whose the token is."""

    @abstractmethod
    async def settings(self) -> Settings: ...

    @abstractmethod
    async def items(self, kind: Kind, *, words: str = "", closed: bool = False, page: int = 1) -> Listing:
        """Those that are open, or closed, the last changed first; with `words` those that have them."""

    @abstractmethod
    async def item(self, kind: Kind, number: int) -> Item: ...

    @abstractmethod
    async def comments(self, item: Item) -> list[Comment]:
        """All that was said to it, the oldest first; of a pull request also what reviews say."""

    @abstractmethod
    async def pull_of(self, branch: str, source: str) -> Item | None:
        """The newest pull request whose head is a branch of the repository `source`; an open one first."""

    @abstractmethod
    async def checks(self, item: Item) -> list[Check]:
        """Of the last commit of a pull request."""

    @abstractmethod
    async def log(self, check: Check) -> str:
        """The end of the log of a check that has one."""

    @abstractmethod
    async def create(
        self, *, title: str, body: str, head: str, base: str, source: str, draft: bool
    ) -> Item: ...

    @abstractmethod
    async def answer(self, item: Item, text: str, thread: str = "") -> None:
        """Say something to it, in a thread where one is named."""

    @abstractmethod
    async def merge(self, item: Item, method: Method) -> None:
        """As long as its last commit is that of the item."""


def newest(items: Iterable[Item]) -> Item | None:
    """Of those of a branch, the newest first: an open one before those that are done."""
    found = list(items)
    return next((one for one in found if one.is_open), found[0] if found else None)

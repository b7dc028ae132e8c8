"""What the flows share: how a sign-in begins and ends, and what may go wrong."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agents.llm.auth import Entry
from agents.llm.types import ModelRequest

USER_AGENT = "opencode-web"


class SignInFailed(Exception):
    """It came to nothing; the text is for people and holds no secret."""


class Unreachable(SignInFailed):
    """The provider did not answer, or not with what it should: later it may."""


class Refused(SignInFailed):
    """The provider does not renew this sign-in: it has ended."""


class InvalidInput(Exception):
    """What the person gave cannot be; `field` is the prompt's key."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Begun:
    """A sign-in that waits for the person, who opens `url` and enters `code` if there is one.

    `finish` waits for them and gives the entry to be kept, whose `provider` may name another one that it is
    for; it raises SignInFailed. After `seconds` nobody
    waits any longer. `close` lets go of what was opened, however it ends. `take` is given the code
    that the person was shown there; None: the sign-in ends by itself.
    """

    url: str
    instructions: str
    finish: Callable[[], Coroutine[Any, Any, Entry]]
    seconds: float
    code: str = ""
    close: Callable[[], None] = lambda: None
    take: Callable[[str], None] | None = None

    @property
    def mode(self) -> Literal["auto", "code"]:
        return "auto" if self.take is None else "code"


Inputs = Mapping[str, str]
KEY = "key"
"""The input that is a key."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to sign in. `id` is its name in the second protocol, `label` what clients call it, `action` our
    page, which leaves it out where that is empty; `prompts` is what is asked first, in the wire's shape, and
    with `takes_key` a key among it, as `KEY`. `begin` raises InvalidInput, SignInFailed."""

    id: str
    label: str
    action: str
    begin: Callable[[Inputs], Awaitable[Begun]]
    prompts: Sequence[Mapping[str, Any]] = ()
    kind: Literal["oauth", "api"] = "oauth"
    takes_key: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """A provider one signs in at. `renew` raises Refused or Unreachable; `prepare` puts address, token and
    headers into a request. `rotates`: a renewal makes the old refresh token worthless."""

    name: str
    methods: Sequence[Method]
    renew: Callable[[Entry], Coroutine[Any, Any, Entry]]
    prepare: Callable[[ModelRequest, Entry], ModelRequest]
    rotates: bool


def text_in(data: Mapping[str, Any], name: str) -> str:
    """A text of an answer, empty where there is none."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def seconds_in(data: Mapping[str, Any], name: str, default: float) -> float:
    """A positive number of an answer, which may be written as text."""
    try:
        value = float(data.get(name) or 0)
    except (TypeError, ValueError):
        return default
    return value if 0 < value < float("inf") else default


def milliseconds() -> int:
    """Now, as entries count time."""
    return int(time.time() * 1000)

"""What of a server's configuration is shown: no passwords, no values of headers and of the environment."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agents.api.redaction import redacted

_REFERENCE = re.compile(r"(?:(?:Bearer|Basic|Token) )?\{(?:env|file):[^{}]+\}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """A header or a variable. `value` is shown, and empty where it may be a secret; `kept`: there is one that
    is not shown."""

    name: str
    value: str = ""
    kept: bool = False


def pairs(written: Any) -> list[Pair]:
    """Of an object of strings as a file has it. A reference is no secret: it only says where that is."""
    found = written.items() if isinstance(written, Mapping) else ()
    return [_pair(str(name), str(value)) for name, value in found]


def _pair(name: str, value: str) -> Pair:
    return Pair(name, value) if _REFERENCE.fullmatch(value) else Pair(name, kept=True)


def command_line(command: Iterable[Any]) -> str:
    """As a shell would take it."""
    return shlex.join(map(str, command))


def address(url: str) -> str:
    """Without a password, and without the query, which may have a key."""
    try:
        query = urlsplit(url).query
    except ValueError:
        return "…"
    shown = str(redacted(url))
    return shown.replace(query, "…") if query else shown

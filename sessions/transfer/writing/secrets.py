"""What must not be told: the secrets of this machine by their values, and what has the look of one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.utils.module_loading import import_string

SHORTEST = 8
"""Characters of a value below which it would black out ordinary words."""

NAMES = re.compile(
    r"(?i)(?:^|[_-])(?:api_?key|key|token|secret|password|passwd|pass|pwd|credentials?|auth|dsn)s?(?:$|[_-])"
)
"""Names of environment variables whose values are secret."""

_SHAPES = (
    r"sk-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic, OpenRouter
    r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"hf_[A-Za-z0-9]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{30,}",
    r"(?:gsk|xai|pplx|r8|tvly)[-_][A-Za-z0-9]{20,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # RFC 7519
)
SHAPED = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_SHAPES)})")

PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)

HEADER = re.compile(
    r"(?i)(\b(?:proxy-)?authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:basic|bearer|token|digest)\s{1,3})?"
    r"|\b(?:x-(?:goog-)?api-key|api-key|x-auth-token|private-token|(?:set-)?cookie)[\"']?\s{0,3}:\s{0,3}[\"']?"
    r"|\b(?:bearer|basic)\s{1,3}(?=[A-Za-z0-9+/_.~-]{16}))([^\s\"',;\\]{6,}(?:;[^\r\n\"']{0,2000})?)"
)
"""A header of HTTP: its name and scheme, then what is secret."""

_SECRET = (
    r"(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret(?:[_-]?key)?|token|passwd|password|private[_-]?key)"
)
SECRET_NAME = re.compile(rf"(?i).*{_SECRET}")
"""A name in JSON whose text is secret."""

ASSIGNED = re.compile(
    rf"(?i)({_SECRET}[\"']?\s{{0,3}}(?::|=>?)\s{{0,3}}[\"']?)([^\s\"'`,;<>(){{}}\[\]\\]{{6,}})"
)

IN_URL = re.compile(r"(?<=://)[^\s/@:\"'<>]{1,200}:[^\s/@\"'<>]{1,200}(?=@)")


MCP_FILE = "mcp-auth.json"
"""Sign-ins at MCP servers, beside each file of keys (agents/mcp/oauth/store.py)."""

OPEN_NAMES = frozenset("type enterpriseUrl serverUrl scope clientId tokenEndpoint resource method".split())
"""Names in those files whose text is no secret."""


_concealed: set[str] = set()


def conceal(value: str) -> None:
    """A secret of this process that stands nowhere else, whatever its length: the server's password."""
    _concealed.add(value)


def known_values(directories: Iterable[str] = ()) -> list[str]:
    """The secrets of this installation, of its environment, and of the configuration that counts in these
    folders, the longest first."""
    beside = [file.with_name(MCP_FILE) for file in settings.AUTH_FILES]
    values = {*_environment(os.environ), *_files([*settings.AUTH_FILES, *beside]), settings.SECRET_KEY}
    for directory in directories:
        values |= set(_configured()(directory))
    long = {value for value in values if len(value) >= SHORTEST}
    return sorted(long | _concealed, key=len, reverse=True)


@cache
def _configured() -> Callable[[str], Iterable[str]]:
    """Asked of whoever the settings name: it is above this room."""
    path = getattr(settings, "CONFIG_SECRETS", "")
    return cast(Callable[[str], Iterable[str]], import_string(path)) if path else lambda directory: ()


def _environment(environ: Mapping[str, str]) -> Iterator[str]:
    yield from (value.strip() for name, value in environ.items() if NAMES.search(name))


def _files(files: Iterable[Path]) -> Iterator[str]:
    """What stands in files of keys and sign-ins, whatever it is called there."""
    for file in files:
        try:
            yield from _strings(json.loads(file.read_text()))
        except (OSError, ValueError):
            continue


def _strings(data: Any, name: str = "") -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _strings(value, str(key))
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value, name)
    elif isinstance(data, str) and name not in OPEN_NAMES:
        yield data

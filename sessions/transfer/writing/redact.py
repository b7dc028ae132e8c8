"""Take secrets out of a conversation, and shorten the paths that name a person's home."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from django.conf import settings

from sessions.core.above import agents
from sessions.transfer.writing.document import Document

BLACK = "[redacted]"
PIECE = 32 * 1024
"""Characters that are searched at once: no other thread runs meanwhile."""
OVERLAP = PIECE // 4
"""Of them those that are searched with the next ones again; more than what shows a secret to be one."""

_HOMES = re.compile(r"(?<![\w.-])(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})[^\s/\\\"'<>|:*?]{1,64}")
_DATA = re.compile(
    r"data:(text/[\w.+-]{1,60}|application/(?:json|xml|yaml))((?:;[\w=.-]{1,60}){0,4}),(.*)", re.DOTALL
)
_WORDS = re.compile(
    r"(?:true|false|null|none|undefined|string|str|process|os|env|self|this|config)\b", re.IGNORECASE
)


class Redactor:
    """`secrets` are values to be blacked out wherever they stand; `home` becomes `~`."""

    def __init__(self, secrets: Iterable[str], home: str = "") -> None:
        every = [form for secret in secrets for form in dict.fromkeys((secret, quote(secret, safe="")))]
        self._values = re.compile("|".join(map(re.escape, every))) if every else None
        bounded = rf"(?<![\w.-]){re.escape(home)}(?![\w.-])"
        self._home = re.compile(bounded) if len(home) > 1 else None

    def text(self, text: str) -> str:
        if self._values is not None:
            text = self._values.sub(BLACK, text)
        text = PRIVATE_KEY.sub(BLACK, text)
        text = _replaced(SHAPED, _black, text)
        text = _replaced(HEADER, _keep_name, text)
        text = _replaced(ASSIGNED, _keep_name, text)
        text = _replaced(IN_URL, _black, text)
        if self._home is not None:
            text = _replaced(self._home, _tilde, text)
        return _replaced(_HOMES, _tilde, text)

    def value(self, value: Any) -> Any:
        """The same value with every text in it gone through, names of keys too."""
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._under(key, item) for key, item in value.items()}
        return value

    def document(self, document: Document) -> Document:
        return Document(
            info=self.value(document.info),
            messages=self.value(document.messages),
            runs=document.runs,
            children=[self.document(child) for child in document.children],
        )

    def _under(self, key: str, value: Any) -> Any:
        """`{"apiKey": "…"}` is an assignment too."""
        if isinstance(value, str) and len(value) >= SHORTEST and SECRET_NAME.fullmatch(key):
            return value if _WORDS.match(value) else BLACK
        return self.value(value)

    def _string(self, text: str) -> str:
        return _inside_data_url(text, self.text) if text.startswith("data:") else self.text(text)


def _replaced(pattern: re.Pattern[str], word: Callable[[re.Match[str]], str], text: str) -> str:
    """As `pattern.sub(word, text)`, but searched piece by piece."""
    done, start, found = 0, 0, []
    while start < len(text):
        near = pattern.search(text, start, start + PIECE)
        if near is None:
            start += PIECE - OVERLAP
        elif match := pattern.match(text, near.start()):  # whole, beyond the end of the piece
            found += [text[done : match.start()], word(match)]
            done = start = match.end()
        else:
            start = near.start() + 1
    return "".join([*found, text[done:]])


def _black(_: re.Match[str]) -> str:
    return BLACK


def _tilde(_: re.Match[str]) -> str:
    return "~"


def _keep_name(match: re.Match[str]) -> str:
    """`API_KEY=[redacted]`; where a call or a plain word follows the name, code only speaks of one."""
    speaks = _WORDS.match(match[2]) or match.string[match.end() : match.end() + 1] == "("
    return match[0] if speaks else f"{match[1]}{BLACK}"


def _inside_data_url(url: str, change: Callable[[str], str]) -> str:
    """An attached text is gone through as well; pictures are left alone (RFC 2397)."""
    found = _DATA.fullmatch(url)
    if found is None:
        return url
    kind, parameters, body = found.groups()
    try:
        encoded = parameters.endswith(";base64")
        before = (base64.b64decode(body) if encoded else unquote_to_bytes(body)).decode()
    except (binascii.Error, ValueError):
        return url
    after = change(before)
    if after == before:
        return url
    inside = base64.b64encode(after.encode()).decode()
    return f"data:{kind}{parameters.removesuffix(';base64')};base64,{inside}"


def redacted(document: Document) -> Document:
    """A copy without the secrets of this machine, and without what has the look of one."""
    folders = {str(one.info["directory"]) for one in document.every() if one.info.get("directory")}
    return Redactor(known_values(folders), str(Path.home())).document(document)


# What must not be told: the secrets of this machine by their values, and what has the look of one.

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
"""Sign-ins at MCP servers, beside each file of keys (agents/servers/mcp/oauth/store.py)."""

FORGES_FILE = "forges.json"
"""Tokens of forges, there too (agents/forge/hosts.py)."""

OPEN_NAMES = frozenset(
    "type enterpriseUrl serverUrl scope clientId tokenEndpoint resource method kind address".split()
)
"""Names in those files whose text is no secret."""


_concealed: set[str] = set()


def conceal(value: str) -> None:
    """A secret of this process that stands nowhere else, whatever its length: the server's password."""
    _concealed.add(value)


def known_values(directories: Iterable[str] = ()) -> list[str]:
    """The secrets of this installation, of its environment, and of the configuration that counts in these
    folders, the longest first."""
    beside = [file.with_name(name) for file in settings.AUTH_FILES for name in (MCP_FILE, FORGES_FILE)]
    values = {*_environment(os.environ), *_files([*settings.AUTH_FILES, *beside]), settings.SECRET_KEY}
    for directory in directories:
        values |= set(agents().secrets(directory))
    long = {value for value in values if len(value) >= SHORTEST}
    return sorted(long | _concealed, key=len, reverse=True)


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

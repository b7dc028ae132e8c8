"""JSON with comments and trailing commas, which remembers the line of every key.

Grammar: RFC 8259 plus `//` and `/* */` comments and one trailing comma in objects and arrays. Strings
are taken as they stand, so `"https://x"` is no comment. The lines let a message about a wrong value name
where it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation.trans_null import gettext_noop

from agents.config.problem import Malformed
from sessions.core.sentences import Sentence

Path = tuple[str | int, ...]
"""Where a value sits: the object keys and array indices that lead to it."""

MAX_DEPTH = 100

_SKIP = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true\b|false\b|null\b|[][{}:,]'
)


class JsoncError(Malformed):
    """The text is no JSONC."""

    def __init__(self, message: str, text: str, position: int) -> None:
        self.message = message
        self.line = text.count("\n", 0, position) + 1
        self.column = position - text.rfind("\n", 0, position)
        words = gettext_noop("line %(line)s, column %(column)s: %(message)s")
        super().__init__(Sentence(words, line=self.line, column=self.column, message=message))


@dataclass(frozen=True, slots=True)
class Member:
    """Offsets in the text: of the key, of the value's first and last character (exclusive), and behind the
    comma that follows; None where none does."""

    key: str
    start: int
    value: int
    end: int
    comma: int | None


@dataclass(slots=True)
class Braces:
    """An object in the text: the offset behind `{`, that of `}`, and what is between them."""

    start: int
    end: int = 0
    members: list[Member] = field(default_factory=list)


class Document:
    """A parsed text: `value`, `lines` with the line of each key and array item, and `objects`: where each
    object stands in the text (of a key that is written twice, the last)."""

    warnings: Sequence[tuple[Path, str]] = ()

    def __init__(self, text: str) -> None:
        """Raise JsoncError when the text is not well formed."""
        self.lines: dict[Path, int] = {}
        self.objects: dict[Path, Braces] = {}
        self._text = text
        self._position = 0
        self._counted = (0, 1)
        self._comma: int | None = None
        self.value: Any = self._value((), self._next())
        token = self._next()
        if token:
            raise self._error(
                Sentence("expected the end of the file, found %(token)s", token=repr(token)),
                token,
            )

    def line(self, path: Path) -> int | None:
        """The line of the key at `path`, or of the nearest key around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def _next(self) -> str:
        """The next token; empty at the end of the text."""
        skipped = _SKIP.match(self._text, self._position)
        start = skipped.end() if skipped else self._position
        token = _TOKEN.match(self._text, start)
        if token is None and start < len(self._text):
            rest = self._text[start : start + 20].splitlines()[0]
            raise JsoncError(Sentence("cannot read %(rest)s", rest=repr(rest)), self._text, start)
        self._position = token.end() if token else start
        return token.group() if token else ""

    def _value(self, path: Path, token: str) -> Any:
        if len(path) > MAX_DEPTH:
            raise self._error(Sentence("nested too deeply"), token)
        if token == "{":
            return self._object(path)
        if token == "[":
            return self._array(path)
        if token in ("", "}", "]", ":", ","):
            raise self._error(Sentence("expected a value, found %(found)s", found=_found(token)), token)
        return self._scalar(token)

    def _object(self, path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        found = Braces(self._position)
        token = self._next()
        while token != "}":
            if not token.startswith('"'):
                raise self._error(
                    Sentence("expected a key or '}', found %(found)s", found=_found(token)),
                    token,
                )
            key, start = self._scalar(token), self._position - len(token)
            self.lines[(*path, key)] = self._line()
            self._expect_colon(token)
            token = self._next()
            value = self._position - len(token)
            members[key] = self._value((*path, key), token)
            end = self._position
            token = self._separator("}")
            found.members.append(Member(key, start, value, end, self._comma))
        found.end = self._position - 1
        self.objects[path] = found
        return members

    def _array(self, path: Path) -> list[Any]:
        items: list[Any] = []
        token = self._next()
        while token != "]":
            self.lines[(*path, len(items))] = self._line()
            items.append(self._value((*path, len(items)), token))
            token = self._separator("]")
        return items

    def _separator(self, closing: str) -> str:
        """The token after a member: the closing one, or the first of the next member."""
        token = self._next()
        self._comma = self._position if token == "," else None
        if token == ",":
            return self._next()
        if token != closing:
            message = Sentence(
                "expected ',' or %(closing)s, found %(found)s",
                closing=repr(closing),
                found=_found(token),
            )
            raise self._error(message, token)
        return token

    def _expect_colon(self, key: str) -> None:
        token = self._next()
        if token != ":":
            message = Sentence(
                "expected ':' after the key %(key)s, found %(found)s",
                key=key,
                found=_found(token),
            )
            raise self._error(message, token)

    def _scalar(self, token: str) -> Any:
        try:
            value = json.loads(token)
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # no 1e999, no lone surrogate
            return value
        except ValueError as error:
            raise self._error(Sentence("cannot read %(token)s", token=token), token) from error

    def _line(self) -> int:
        """The line of the token just read, counted on from the last one asked for."""
        position, line = self._counted
        line += self._text.count("\n", position, self._position)
        self._counted = (self._position, line)
        return line

    def _error(self, message: str, token: str) -> JsoncError:
        return JsoncError(message, self._text, self._position - len(token))


def _found(token: str) -> str:
    """What stands where something else was expected."""
    return repr(token) if token else Sentence("'the end of the file'")

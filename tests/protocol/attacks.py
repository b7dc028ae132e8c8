"""Bad requests for every operation, made of our own document: bad ids, bad queries, bad bodies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

Json = dict[str, Any]

BLOCKING = {
    "event.subscribe": "a stream",
    "global.event": "a stream",
    "v2.event.subscribe": "a stream",
    "v2.session.events": "a stream",
    "tui.control.next": "waits for the next order",
    "pty.connect": "a WebSocket",
    "v2.pty.connect": "a WebSocket",
}
"""What answers late or not at all by design; asked only without credentials."""

SURROGATE, NUL, LONG, HUGE = "half \ud800 of one", "a\0b", "x" * 20_000, 10**17
DEEP = b'{"metadata":' + b'{"a":' * 900 + b"1" + b"}" * 901
BODIES = (
    b"{no json", b"[]", b"null", b'{"title":"\xff\xfe"}', DEEP, b'{"metadata":{"a":"\\ud800"}}',
    b'{"time":{"archived":1e999},"extra":NaN}', b'{"extra":' + b"9" * 5000 + b"}",
)  # fmt: skip
PATH_IDS = (
    "nope", "{prefix}_%00", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "{prefix}_%ed%a0%80",
    "{prefix}_%0d%0aX-Evil:%201", "{prefix}_nobody", "{long}",
)  # fmt: skip
QUERY_VALUES = ("-1", "abc", "", "%00", "%ed%a0%80", "9" * 30, "1e999", "x" * 5000)
PLACES = ("relative/folder", "/%00%ff", "/" + "x" * 5000)
PREFIX = {
    "sessionID": "ses", "messageID": "msg", "partID": "prt", "permissionID": "per", "requestID": "per",
    "ptyID": "pty", "workspaceID": "wrk", "attemptID": "con", "credentialID": "cred",
}  # fmt: skip
VARIANTS = 3
"""Of a union; all of them are read by the same code."""
SOUND = {"path": "hello.py", "pattern": "hello", "provider": "fake", "model": "fake"}
"""For what a query has to have."""
CALM: Json = {"noReply": True, "resume": False}
"""Set where a body has it, so that the walk starts few turns."""


@dataclass(frozen=True)
class Attack:
    """A request; `operation` is whose."""

    operation: str
    method: str
    url: str
    body: bytes | None = None

    def __str__(self) -> str:
        return f"{self.operation} {self.method} {self.url[:150]} {(self.body or b'')[:150]!r}"


@dataclass
class Attacker:
    """`document` is ours; `real` are ids of things that the walk owns, by parameter, `place` their folder."""

    document: Json
    real: dict[str, str]
    place: str
    _seen: list[Json] = field(default_factory=list, init=False)
    """Shapes whose fields were attacked: another operation that takes one is spared the same."""

    def operations(self) -> Iterator[tuple[str, str, Json]]:
        """(method, path, details)."""
        for path, methods in self.document["paths"].items():
            for method, details in methods.items():
                yield method.upper(), path, details

    def looks(self) -> Iterator[str]:
        """The URL of every operation that only reads, and does not wait."""
        for method, path, details in self.operations():
            if method == "GET" and details["operationId"] not in BLOCKING:
                yield next(self._queries(method, path, details, places=(quote(self.place),)))

    def attacks(self) -> Iterator[Attack]:
        for method, path, details in self.operations():
            if details["operationId"] not in BLOCKING:
                for url in (*self._paths(path), *self._queries(method, path, details)):
                    yield Attack(details["operationId"], method, url, self.sound(details))
                for body in self._bodies(details):
                    yield Attack(details["operationId"], method, self._real(method, path), body)

    def _paths(self, path: str) -> Iterator[str]:
        """One bad id at a time, the others real; `*` is a path in a folder."""
        names = re.findall(r"{(\w+)}|\*", path)
        for name in names:
            prefix = PREFIX.get(name, "x")
            for pattern in PATH_IDS:
                id = pattern.format(prefix=prefix, long=f"{prefix}_" + "a" * 5000)
                bad = path.replace(f"{{{name}}}" if name else "*", id)
                yield self._placed(self.named(bad))

    def _queries(
        self, method: str, path: str, details: Json, places: tuple[str, ...] = PLACES
    ) -> Iterator[str]:
        real = self._real(method, path)
        bare = real.partition("?")[0]
        queries = [item for item in details.get("parameters", []) if item["in"] == "query"]
        needed = {
            item["name"]: SOUND.get(item["name"]) or self._sample(item["schema"])
            for item in queries
            if item.get("required")
        }
        for place in places:
            yield f"{bare}?directory={place}&{urlencode(needed)}"
        yield f"{bare}?{urlencode(needed)}&directory=relative&directory=/nothing"
        for name in (item["name"] for item in queries):
            others = urlencode({other: value for other, value in needed.items() if other != name})
            for value in QUERY_VALUES:
                yield f"{real}&{others}&{name}={value}"
            yield f"{real}&{others}&{name}=1&{name}=abc"

    def _bodies(self, details: Json) -> Iterator[bytes]:
        schema = _body_of(details)
        if schema is None:
            return
        yield from BODIES
        if schema in self._seen:
            return
        self._seen.append(schema)
        for variant in self._variants(schema)[:VARIANTS]:
            sound = self._sample(variant)
            for body in self._broken(variant, sound):
                yield json.dumps(body).encode()

    def _broken(self, schema: Any, sound: Any, depth: int = 0) -> Iterator[Any]:
        """`sound` with one wrong value in it, or one required field less."""
        schema = self._resolved(schema)
        if isinstance(sound, list) and sound:
            yield from ([item] for item in self._broken(schema.get("items", {}), sound[0], depth))
        if not isinstance(sound, dict):
            return
        for name in schema.get("required", ()):
            yield {key: value for key, value in sound.items() if key != name}
        for name, inner in schema.get("properties", {}).items():
            for value in self._wrong(inner):
                yield {**sound, name: value}
            if depth < 1:
                for value in self._broken(self._variants(inner)[0], self._sample(inner), depth + 1):
                    yield {**sound, name: value}

    def _wrong(self, schema: Any) -> tuple[Any, ...]:
        kind = type(self._sample(schema))
        same: dict[type, tuple[Any, ...]] = {
            str: (SURROGATE, NUL, LONG),
            int: (-1, HUGE),
            float: (-1, 1e300),
            list: ([None], [SURROGATE]),
            dict: ({"a": SURROGATE}, {NUL: NUL}),
        }
        return (None, HUGE if kind is str else "text", *same.get(kind, ()))

    def sound(self, details: Json) -> bytes | None:
        schema = _body_of(details)
        return None if schema is None else json.dumps(self._sample(schema)).encode()

    def _sample(self, schema: Any) -> Any:
        """A small value that the schema takes."""
        schema = self._resolved(self._variants(schema)[0])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "string":
                prefix = re.match(r"\^\(?([a-z]+)", schema.get("pattern", ""))
                return f"{prefix[1]}_walk" if prefix else "walk"
            case "integer":
                return schema.get("minimum", 1)
            case "number":
                return 1.5
            case "boolean":
                return True
            case "array":
                return [self._sample(schema.get("items", {}))]
        known = schema.get("properties", {})
        calm = {name: value for name, value in CALM.items() if name in known}
        tags = [name for name, inner in known.items() if "const" in inner]
        needed = {name: self._sample(known[name]) for name in (*schema.get("required", ()), *tags)}
        return {name: self.real.get(name, value) for name, value in needed.items()} | calm

    def _variants(self, schema: Any) -> list[Any]:
        schema = self._resolved(schema)
        found = schema.get("oneOf") or schema.get("anyOf") or [schema]
        return [each for each in found if each.get("type") != "null"]

    def _resolved(self, schema: Any) -> Any:
        while "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def _real(self, method: str, path: str) -> str:
        """Ids that are there, but for what takes away."""
        if method == "DELETE":
            path = re.sub(r"{(\w+)}", lambda found: PREFIX.get(found[1], "x") + "_nobody", path)
        return self._placed(self.named(path))

    def named(self, path: str) -> str:
        return re.sub(r"{(\w+)}", lambda found: self.real.get(found[1], "x_nobody"), path).replace(
            "*", "a.txt"
        )

    def _placed(self, path: str) -> str:
        return f"{path}?directory={quote(self.place)}"


def _body_of(details: Json) -> Any:
    content = details.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema")

"""OpenCode's own OpenAPI document, asked of OpenCode itself, and answers checked by it."""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from bench.targets import OPENCODE_VERSION
from tests import opencode

START_SECONDS = 60


@dataclass(frozen=True)
class Operation:
    """`id` is the document's operationId; `responses` are its schemas by status, None for an empty body."""

    id: str
    method: str
    path: str
    responses: Mapping[str, Any]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        named = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(self.path))
        return re.compile(named.replace(r"/\*", "/.+"))


class Reference:
    """The document with its open ends closed: no object has a field that it does not declare, but those that
    declare none (metadata, arguments)."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document: dict[str, Any] = _closed(document)
        self.operations = list(_operations(self.document))

    def operation(self, method: str, path: str) -> Operation | None:
        """Of a request; literal paths before those with parameters."""
        found = [item for item in self.operations if item.method == method and item.pattern.fullmatch(path)]
        return min(found, key=lambda item: item.path.count("{"), default=None)

    def problems(self, method: str, path: str, status: int, body: Any) -> list[str]:
        """What the document says against an answer: empty when it is as declared."""
        operation = self.operation(method, path)
        if operation is None:
            return []
        if str(status) not in operation.responses:
            return [f"{operation.id}: status {status} is not declared"]
        schema = operation.responses[str(status)]
        if schema is None:
            return [] if body is None else [f"{operation.id}: an empty answer is declared for {status}"]
        return [f"{operation.id}: {problem}" for problem in self.wrong(schema, body)]

    def wrong(self, schema: dict[str, Any], value: Any) -> list[str]:
        """Where a value is not as a schema of the document has it."""
        checker = Draft202012Validator({**schema, "components": self.document["components"]})
        return [f"{error.json_path}: {error.message[:300]}" for error in checker.iter_errors(value)]


def reference(environ: Mapping[str, str]) -> Reference:
    """The document of the pinned OpenCode, kept beside it; skips where OpenCode cannot be had."""
    program = opencode.program(environ)
    kept = program.parent / f"document-{OPENCODE_VERSION}.json"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_text(json.dumps(_ask(program)))
    return Reference(json.loads(kept.read_text()))


def _ask(program: Path) -> Any:
    with (
        opencode.serving(program, program.parent / "home") as url,
        httpx.Client(timeout=START_SECONDS, trust_env=False) as client,
    ):
        return client.get(f"{url}/doc").json()


def _operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, details in methods.items():
            if "operationId" in details:
                responses = {status: _schema(item) for status, item in details["responses"].items()}
                yield Operation(details["operationId"], method.upper(), path, responses)


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(value) for name, value in schema.items()}
    if closed.get("type") == "object" and closed.get("properties"):
        closed.setdefault("additionalProperties", False)
    return closed


def _schema(response: dict[str, Any]) -> Any:
    return next((item.get("schema", {}) for item in response.get("content", {}).values()), None)

"""A tool of the MCP server, and an operation of the HTTP API as data, of which `tool_of` makes a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from opencode_web.bridge.call import Call, Json, filled
from opencode_web.bridge.formatting.plain import pretty
from opencode_web.bridge.watch import run_operation

PREFIX = "opencode_"


class Arguments(BaseModel):
    """What every tool takes."""

    model_config = ConfigDict(extra="forbid")

    directory: str | None = Field(
        None, description="Absolute path of the project's folder; the bridge's own when left out."
    )


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may assume of a tool (MCP, ToolAnnotations)."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


READS = Hints(read_only=True, idempotent=True)
ADDS = Hints()
"""Makes something new; nothing that was there is lost."""
SETS = Hints(idempotent=True)
"""Doing it twice is doing it once."""
ENDS = Hints(destructive=True, idempotent=True)
"""Takes something away."""
ACTS = Hints(destructive=True, open_world=True)
"""An agent or a command runs, and may change files or reach the network."""
REACHES = Hints(open_world=True)
"""Speaks with somebody outside of this machine."""

_SYNONYMS = {"timeoutseconds": "seconds", "maxdurationseconds": "seconds"}
"""Names in other bridges to OpenCode, for which there are rules and prompts; `sessionId` and `session_id` are
known by their letters, and a lone `id` is the session's."""
_IDLE = frozenset({"pollintervalms"})
"""Of them what has no use here: nothing is polled."""

Run = Callable[[Call, Any], Awaitable[str]]
"""From a call and an instance of `arguments` to the answer. Raises RemoteError."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`name` is the whole name, with its prefix."""

    name: str
    title: str
    group: str
    description: str
    arguments: type[Arguments]
    hints: Hints
    run: Run
    secrets: frozenset[str] = frozenset()
    """Arguments whose values are never said again."""

    @property
    def schema(self) -> dict[str, Any]:
        return self.arguments.model_json_schema()

    def named(self, given: Json) -> Json:
        """What was given, by the names that the arguments have here; what is not known stays as it is."""
        fields = list(self.arguments.model_fields)
        known = {_plain(field): field for field in fields}
        ids = [field for field in fields if field.endswith("ID")]
        if "sessionID" in ids or len(ids) == 1:
            known.setdefault("id", "sessionID" if "sessionID" in ids else ids[0])
        found = {name: value for name, value in given.items() if name in fields}
        for name, value in given.items():
            plain = _plain(name)
            if name not in fields and plain not in _IDLE:
                own = known.get(_SYNONYMS.get(plain, plain), name)
                found[name if own in found else own] = value
        return found


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


Place = Literal["path", "query", "body", "aside"]
Format = Callable[[Any], str]
Shape = Callable[[Call, Json], Awaitable[Json]]
"""From all arguments that were given to the body of the request."""


@dataclass(frozen=True, slots=True)
class Argument:
    """`type` is a Python type. One that stands `aside` is for the shape of the body or the format only."""

    name: str
    type: Any
    description: str
    place: Place
    required: bool = True
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """`name` is without the prefix. `long`: a turn may run in it, so that it takes until that has ended."""

    name: str
    method: str
    path: str
    description: str
    hints: Hints
    arguments: Sequence[Argument] = ()
    format: Format = pretty
    shape: Shape | None = None
    long: bool = False

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()


def tool_of(group: str, operation: Operation) -> Tool:
    """The low-level tool of one operation."""

    async def run(call: Call, arguments: Arguments) -> str:
        given = arguments.model_dump(exclude_none=True, exclude={"directory"})
        return await _carry_out(operation, call, given)

    fields: dict[str, Any] = {argument.name: _field(argument) for argument in operation.arguments}
    return Tool(
        PREFIX + operation.name,
        operation.title,
        group,
        operation.description,
        create_model(operation.name, __base__=Arguments, **fields),
        operation.hints,
        run,
        frozenset(argument.name for argument in operation.arguments if argument.secret),
    )


async def _carry_out(operation: Operation, call: Call, given: Json) -> str:
    path = filled(operation.path, given)
    query = _of(operation, given, "query")
    body: Json | None = _of(operation, given, "body") if operation.method != "GET" else None
    if operation.shape is not None:
        body = await operation.shape(call, given)
    if operation.long:
        return await run_operation(call, given["sessionID"], operation.method, path, body, operation.format)
    return operation.format(await call.request(operation.method, path, query=query, body=body))


def _of(operation: Operation, given: Json, place: Place) -> Json:
    names = (argument.name for argument in operation.arguments if argument.place == place)
    return {name: given[name] for name in names if name in given}


def _field(argument: Argument) -> Any:
    if argument.required:
        return Annotated[argument.type, Field(description=argument.description)], ...
    return Annotated[argument.type | None, Field(description=argument.description)], None

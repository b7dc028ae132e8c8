"""An operation of the HTTP API as data; `tool_of` makes the tool of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from opencode_web.bridge.call import Call, Json, filled
from opencode_web.bridge.following.watched import watched
from opencode_web.bridge.formatting.plain import pretty
from opencode_web.bridge.tool import PREFIX, Arguments, Hints, Tool

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
        return await watched(call, given["sessionID"], operation.method, path, body, operation.format)
    return operation.format(await call.request(operation.method, path, query=query, body=body))


def _of(operation: Operation, given: Json, place: Place) -> Json:
    names = (argument.name for argument in operation.arguments if argument.place == place)
    return {name: given[name] for name in names if name in given}


def _field(argument: Argument) -> Any:
    if argument.required:
        return Annotated[argument.type, Field(description=argument.description)], ...
    return Annotated[argument.type | None, Field(description=argument.description)], None

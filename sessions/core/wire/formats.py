"""The form that a prompt asks its answer in: words, or an object that fits a JSON schema.

Source: OpenCode's document (OutputFormat); JSON Schema, draft 2020-12 and the drafts before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field

from .base import Wire

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_BYTES = 100_000
RETRIES = 2
"""How often a wrong answer goes back when the prompt does not say; OpenCode's number."""

_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_DIALECTS = {
    _NEWEST: "Draft202012Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_WRONG_AT_ONCE = 5
_LONGEST = 300
"""Characters of one problem: it quotes what is wrong, which may be everything."""
_ENDLESS = "the schema refers to itself without end"


class BadSchema(ValueError):
    """Nothing can be checked with the schema; the text says why."""


class OutputFormatText(Wire):
    model_config = ConfigDict(extra="ignore")

    type: Literal["text"]


class OutputFormatJsonSchema(Wire):
    model_config = ConfigDict(extra="ignore")

    type: Literal["json_schema"]
    json_schema: dict[str, Any] = Field(alias="schema")
    retry_count: int = Field(default=RETRIES, ge=0, alias="retryCount")


OutputFormat = Annotated[OutputFormatText | OutputFormatJsonSchema, Field(discriminator="type")]


def check(schema: Mapping[str, Any]) -> None:
    """Raises BadSchema for what no tool can take as its parameters: no valid schema, none of an object, one
    that refers to other documents, or one over MAX_BYTES. Blocks."""
    try:
        if len(json.dumps(schema, ensure_ascii=False).encode("utf-8", "replace")) > MAX_BYTES:
            raise BadSchema(f"it is larger than {MAX_BYTES} bytes")
        _check(schema)
    except RecursionError as error:
        raise BadSchema(_ENDLESS) from error


def problems(schema: Mapping[str, Any], value: Mapping[str, Any]) -> list[str]:
    """What keeps a value from fitting a schema, the first few, each with its JSON path; none if it fits.
    Blocks."""
    from referencing.exceptions import Unresolvable

    try:
        errors = islice(_validator(schema).iter_errors(dict(value)), _WRONG_AT_ONCE)
        return [f"{error.json_path}: {error.message[:_LONGEST]}" for error in errors]
    except RecursionError:
        return [_ENDLESS]
    except Unresolvable as error:
        return [f"the schema has no {error.ref}"]


def _check(schema: Mapping[str, Any]) -> None:
    from jsonschema.exceptions import SchemaError

    validator = _validator(schema)
    try:
        validator.check_schema(dict(schema))
    except SchemaError as error:
        raise BadSchema(f"{error.json_path}: {error.message[:_LONGEST]}") from error
    kinds = schema.get("type", "object")
    if "object" not in ([kinds] if isinstance(kinds, str) else kinds):
        raise BadSchema("$.type: it must be an object, as the arguments of a tool are")
    _resolve(schema, validator)
    validator.is_valid({})  # ends, unless the schema leads back to itself at once


def _validator(schema: Mapping[str, Any]) -> Validator:
    """By the schema's own dialect. Nothing is ever fetched."""
    import jsonschema
    from referencing import Registry

    dialect = str(schema.get("$schema", _NEWEST)).rstrip("#")
    if dialect not in _DIALECTS:
        raise BadSchema("$.$schema: this dialect is not known")
    kind: type[Validator] = getattr(jsonschema, _DIALECTS[dialect])
    registry: Registry[Any] = Registry()
    return kind(schema, registry=registry)


def _resolve(schema: Mapping[str, Any], validator: Validator) -> None:
    """Every reference leads to a place in the schema itself."""
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import specification_with

    specification = specification_with(str(validator.META_SCHEMA["$schema"]))
    resource = specification.create_resource(schema)
    registry: Registry[Any] = Registry().with_resource(resource.id() or "", resource)
    resolver = registry.resolver(resource.id() or "")
    for name, reference in _references(schema):
        if not reference.startswith("#"):
            raise BadSchema(f"{name}: {reference[:_LONGEST]!r} is outside of the schema")
        try:
            resolver.lookup(reference)
        except (Unresolvable, ValueError) as error:
            raise BadSchema(f"{name}: the schema has no {reference[:_LONGEST]!r}") from error


def _references(schema: object) -> Iterator[tuple[str, str]]:
    """All of them, however deep."""
    rest = [schema]
    while rest:
        inside = rest.pop()
        if isinstance(inside, Mapping):
            yield from ((n, inside[n]) for n in _REFERENCES if isinstance(inside.get(n), str))
            rest.extend(inside.values())
        elif isinstance(inside, list):
            rest.extend(inside)

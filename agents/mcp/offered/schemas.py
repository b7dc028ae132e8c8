"""The schema of a tool's arguments as providers take it. One tool that they refuse would fail every request,
so what they refuse is taken out, and a tool that is hopeless is left out.

Source: what Anthropic's and OpenAI's APIs say of `input_schema` and `parameters`: an object at the top,
without combinations there, and property names of 64 letters, digits, `_`, `.` and `-`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agents.mcp.offered.texts import clean
from sessions.wire.formats import BadSchema, check

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_BRANCHES = ("allOf", "anyOf", "oneOf")
_COMBINATIONS = (*_BRANCHES, "not", "enum", "const", "if", "then", "else")


def harmless(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, changed where a provider would refuse it: the server checks the arguments in any case.
    Raises BadSchema for what no model can be given. Blocks."""
    made = _copied(schema)
    properties = {name: value for name, value in _properties(made).items() if _PROPERTY.fullmatch(name)}
    made = {key: value for key, value in made.items() if key not in _COMBINATIONS}
    made |= {"type": made.get("type", "object"), "properties": properties}
    if isinstance(required := made.get("required"), list):
        made["required"] = [name for name in required if name in properties]
    check(made)
    made.pop("$schema", None)
    return {**made, "type": "object"}


def _copied(schema: Mapping[str, Any]) -> dict[str, Any]:
    try:
        text = clean(json.dumps(dict(schema), ensure_ascii=False, allow_nan=False))
        copied: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadSchema("it is no JSON") from error
    return copied


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Its own, and those of its alternatives, none of which is required then."""
    branches = [
        branch for name in _BRANCHES for branch in _list(schema.get(name)) if isinstance(branch, dict)
    ]
    found: dict[str, Any] = {}
    for inside in (*branches, schema):
        if isinstance(named := inside.get("properties"), dict):
            found |= named
    return found


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

"""`/doc`: the OpenAPI 3.1 document of this server, made of the routes and of what `answers` says of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from ninja import NinjaAPI
from ninja.operation import Operation
from pydantic import TypeAdapter

from sessions.api.base import wire
from sessions.api.described import Answer

_APIS = {"opencode_web.api_urls.api": "", "opencode_web.api_v2_urls.api": "/api"}
"""By name: they import this module."""
_REF = "#/components/schemas/{model}"
_REASONS = {400: "Bad request", 401: "Unauthorized", 403: "Forbidden", 404: "Not found", 409: "Conflict"}

Json = dict[str, Any]


async def view(_: HttpRequest) -> HttpResponse:
    return wire(await asyncio.to_thread(document))


@cache
def document() -> Json:
    """`paths` have OpenCode's operation ids and parameter names."""
    paths: dict[str, Json] = {}
    schemas: dict[str, Any] = {}
    info: Json = {}
    for name, prefix in _APIS.items():
        api: NinjaAPI = import_string(name)
        drawn = api.get_openapi_schema(path_prefix=prefix.lstrip("/") + "/" if prefix else "")
        views = {operation.operation_id: operation for operation in _operations(api)}
        schemas |= drawn["components"].get("schemas", {})
        info = info or drawn["info"]
        for path, methods in drawn["paths"].items():
            for details in methods.values():
                _describe(details, views.get(details["operationId"]), schemas)
            paths.setdefault(_wire_path(path), {}).update(methods)
    paths["/doc"] = {
        "get": {"operationId": "doc.get", "responses": {"200": {"description": "This document"}}}
    }
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": schemas}}


def _operations(api: NinjaAPI) -> Iterator[Operation]:
    for router in api._get_bound_routers():
        for path_view in router.path_operations.values():
            yield from path_view.operations


def _describe(details: Json, operation: Operation | None, schemas: dict[str, Any]) -> None:
    """Names as on the wire, and the answer in place of what the framework guesses."""
    for parameter in details.get("parameters", []):
        parameter["name"] = _wire_name(parameter["name"])
    answer: Answer | None = getattr(operation.view_func, "answer", None) if operation else None
    if answer is None:
        return
    responses: Json = {str(answer.status): _content(answer, schemas)}
    for status in (400, 401, *answer.errors):
        responses[str(status)] = {"description": _REASONS.get(status, "Error")}
    details["responses"] = responses


def _content(answer: Answer, schemas: dict[str, Any]) -> Json:
    if answer.type is None:
        return {"description": "Done"}
    schema = TypeAdapter(answer.type).json_schema(ref_template=_REF, mode="serialization", by_alias=True)
    schemas |= schema.pop("$defs", {})
    return {"description": "Success", "content": {answer.media: {"schema": schema}}}


def _wire_path(path: str) -> str:
    """`/session/{session_id}/` becomes `/session/{sessionID}`."""
    named = re.sub(r"{(?:\w+:)?(\w+)}", lambda found: "{" + _wire_name(found[1]) + "}", path)
    return named.rstrip("/") or "/"


def _wire_name(name: str) -> str:
    """`session_id` becomes `sessionID`."""
    first, *others = name.split("_")
    return first + "".join("ID" if word == "id" else word.capitalize() for word in others)

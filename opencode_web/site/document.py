"""`/doc`: the OpenAPI 3.1 document of this server, made of the routes and of what `answers` says of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import get_resolver
from ninja import NinjaAPI
from ninja.operation import Operation
from ninja.schema import NinjaGenerateJsonSchema
from pydantic import TypeAdapter

from sessions.api.base import wire
from sessions.api.described import Answer

_URLCONFS = {"opencode_web.site.api_urls": "", "opencode_web.site.api_v2_urls": "/api"}
"""By name, as Django has its URLs: they import this module."""
_REF = "#/components/schemas/{model}"
_REASONS = {400: "Bad request", 401: "Unauthorized", 403: "Forbidden", 404: "Not found", 409: "Conflict"}

_ELSEWHERE = {
    "/doc": ("doc.get", "This document"),
    "/global/health": ("global.health", "Healthy, and the version of the protocol"),
    "/pty/{ptyID}/connect": ("pty.connect", "A WebSocket"),
    "/api/pty/{ptyID}/connect": ("v2.pty.connect", "A WebSocket"),
}
"""What is answered before the API is loaded, or not by HTTP."""

Json = dict[str, Any]


async def view(_: HttpRequest) -> HttpResponse:
    return wire(await asyncio.to_thread(document))


def unknown(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404 for a path that no operation has: a client of the API cannot read a page."""
    message = f"There is no operation {request.method} {request.path_info}; GET /doc lists them."
    return _error(request, 404, "NotFoundError", message)


def failed(request: HttpRequest) -> HttpResponse:
    """500 without a word of what was inside: that is in the log."""
    return _error(request, 500, "UnknownError", "The server failed; its log says why.")


def unsaved(request: HttpRequest, status: int, words: str) -> HttpResponse:
    """What could not be written, and why."""
    return _error(request, status, "UnknownError", words)


def _error(request: HttpRequest, status: int, name: str, message: str) -> HttpResponse:
    """In the shape of the protocol that was spoken."""
    if request.path_info.startswith("/api/"):
        return wire({"_tag": name, "message": message}, status)
    return wire({"name": name, "data": {"message": message}}, status)


@cache
def document() -> Json:
    """`paths` have OpenCode's operation ids and parameter names."""
    paths: dict[str, Json] = {}
    schemas: dict[str, Any] = {}
    info: Json = {}
    for name, prefix in _URLCONFS.items():
        urls: Any = get_resolver(name).urlconf_module
        api: NinjaAPI = urls.api
        drawn = api.get_openapi_schema(path_prefix=prefix.lstrip("/") + "/" if prefix else "")
        views = {operation.operation_id: operation for operation in _operations(api)}
        _add(schemas, drawn["components"].get("schemas", {}))
        info = info or drawn["info"]
        for path, methods in drawn["paths"].items():
            for details in methods.values():
                _describe(details, views.get(details["operationId"]), schemas)
            paths.setdefault(_wire_path(path), {}).update(methods)
    for path, (name, told) in _ELSEWHERE.items():
        paths[path] = {"get": {"operationId": name, "responses": {"200": {"description": told}}}}
    place: Json = {"servers": [{"url": settings.BASE_PATH}]} if settings.BASE_PATH else {}
    return {"openapi": "3.1.0", "info": info, **place, "paths": paths, "components": {"schemas": schemas}}


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
    # "validation": what is not set is left out of an answer, so a default does not make a field required.
    schema = TypeAdapter(answer.type).json_schema(
        ref_template=_REF, mode="validation", schema_generator=NinjaGenerateJsonSchema
    )
    _add(schemas, schema.pop("$defs", {}))
    return {"description": "Success", "content": {answer.media: {"schema": schema}}}


def _add(schemas: dict[str, Any], more: dict[str, Any]) -> None:
    """Raises ValueError for two shapes of one name: the document could show only one of them."""
    for name, schema in more.items():
        if schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two shapes are called {name}")


def _wire_path(path: str) -> str:
    """`/session/{session_id}/` becomes `/session/{sessionID}`, a path within the path `*`."""
    named = re.sub(r"{(?:\w+:)?(\w+)}", lambda found: "{" + _wire_name(found[1]) + "}", path)
    return named.rstrip("/").replace("/{path}", "/*") or "/"


def _wire_name(name: str) -> str:
    """`session_id` becomes `sessionID`."""
    first, *others = name.split("_")
    return first + "".join("ID" if word == "id" else word.capitalize() for word in others)

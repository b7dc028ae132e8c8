"""`/api/integration`, `/api/credential`: the same in the second protocol."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agents.config.configuration import load
from agents.config.schema import Config
from agents.llm.accounts import attempts, keeping
from agents.llm.accounts.attempts import Attempt
from agents.llm.accounts.flows.base import InvalidInput, SignInFailed
from agents.llm.accounts.shapes import (
    CREDENTIAL,
    AttemptStatus,
    Complete,
    ConnectKey,
    ConnectOAuth,
    Integration,
    IntegrationAttempt,
    Label,
    attempt_shape,
    attempt_status,
    integration,
)
from agents.llm.accounts.state import State, state, states
from agents.plugins.hooks import sign_ins
from sessions.api.base import directory_of
from sessions.api.described import answers
from sessions.api.v2.base import InvalidRequest, located
from sessions.core.wire.v2.base import Located

router = Router()


@router.get("/integration", operation_id="v2.integration.list")
@answers(Located[list[Integration]])
async def listing(request: HttpRequest) -> HttpResponse:
    found = await states(await _config(request), await sign_ins(directory_of(request)))
    return await located(request, [integration(item) for item in found])


@router.get("/integration/attempt/{attempt_id}", operation_id="v2.integration.attempt.status")
@answers(Located[AttemptStatus])
async def status(request: HttpRequest, attempt_id: str) -> HttpResponse:
    return await located(request, attempt_status(_attempt(attempt_id)))


@router.delete("/integration/attempt/{attempt_id}", operation_id="v2.integration.attempt.cancel")
@answers(status=204)
async def cancel(request: HttpRequest, attempt_id: str) -> HttpResponse:
    """Nothing happens where nobody waits, as with OpenCode."""
    attempt = attempts.named(attempt_id)
    if attempt is not None:
        await attempts.cancel(attempt.provider_id)
    return HttpResponse(status=204)


@router.post("/integration/attempt/{attempt_id}/complete", operation_id="v2.integration.attempt.complete")
@answers(status=204)
async def complete(request: HttpRequest, attempt_id: str, body: Complete) -> HttpResponse:
    """Answers once the person has signed in; only a plugin's sign-in may need a `code`."""
    attempt = _attempt(attempt_id)
    if attempt.begun.take is not None:
        if not body.code:
            raise InvalidRequest("The code is missing that the sign-in page shows.", "code")
        attempt.begun.take(body.code)
    try:
        await attempts.finish(attempt)
    except SignInFailed as error:
        raise InvalidRequest(str(error)) from error
    return HttpResponse(status=204)


@router.get("/integration/{integration_id}", operation_id="v2.integration.get")
@answers(Located[Integration | None])
async def one(request: HttpRequest, integration_id: str) -> HttpResponse:
    """`data` is null for one that nobody knows, as OpenCode answers."""
    found = await _state(request, integration_id)
    return await located(request, None if found is None else integration(found))


@router.post("/integration/{integration_id}/connect/key", operation_id="v2.integration.connect.key")
@answers(status=204)
async def connect_key(request: HttpRequest, integration_id: str, body: ConnectKey) -> HttpResponse:
    await _known(request, integration_id)
    try:
        await keeping.keep(integration_id, {"type": "api", "key": body.key}, body.label)
    except InvalidInput as error:
        raise InvalidRequest(str(error), error.field) from error
    except SignInFailed as error:
        raise InvalidRequest(str(error)) from error
    return HttpResponse(status=204)


@router.post("/integration/{integration_id}/connect/oauth", operation_id="v2.integration.connect.oauth")
@answers(Located[IntegrationAttempt])
async def connect_oauth(request: HttpRequest, integration_id: str, body: ConnectOAuth) -> HttpResponse:
    found = await _known(request, integration_id)
    method = next((method for method in found.methods if method.id == body.method_id), None)
    if method is None:
        raise InvalidRequest(f"There is no sign-in {body.method_id} at {integration_id}.", "methodID")
    try:
        attempt = await attempts.begin(integration_id, method, body.inputs, body.label)
    except InvalidInput as error:
        raise InvalidRequest(str(error), f"inputs.{error.field}") from error
    except SignInFailed as error:
        raise InvalidRequest(str(error)) from error
    return await located(request, attempt_shape(attempt))


@router.patch("/credential/{path:credential_id}", operation_id="v2.credential.update")
@answers(status=204)
async def relabel(request: HttpRequest, credential_id: str, body: Label) -> HttpResponse:
    try:
        await keeping.relabel(credential_id.removeprefix(CREDENTIAL), body.label)
    except InvalidInput as error:
        raise InvalidRequest(str(error), error.field) from error
    except SignInFailed as error:
        raise InvalidRequest(str(error)) from error
    return HttpResponse(status=204)


@router.delete("/credential/{path:credential_id}", operation_id="v2.credential.remove")
@answers(status=204)
async def remove(request: HttpRequest, credential_id: str) -> HttpResponse:
    try:
        await keeping.forget(credential_id.removeprefix(CREDENTIAL))
    except SignInFailed as error:
        raise InvalidRequest(str(error)) from error
    return HttpResponse(status=204)


async def _config(request: HttpRequest) -> Config:
    return (await asyncio.to_thread(load, directory_of(request))).config


async def _state(request: HttpRequest, integration_id: str) -> State | None:
    return await state(integration_id, await _config(request), await sign_ins(directory_of(request)))


async def _known(request: HttpRequest, integration_id: str) -> State:
    """Raises InvalidRequest."""
    found = await _state(request, integration_id)
    if found is None:
        raise InvalidRequest(f"Integration not found: {integration_id}", "integrationID")
    return found


def _attempt(attempt_id: str) -> Attempt:
    """Raises InvalidRequest."""
    attempt = attempts.named(attempt_id)
    if attempt is None:
        raise InvalidRequest(f"Sign-in not found: {attempt_id}", "attemptID")
    return attempt

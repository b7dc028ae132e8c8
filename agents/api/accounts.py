"""`/auth`, `/provider/auth`, `/provider/{id}/oauth`: signing in to providers."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router

from agents.llm.accounts import attempts, keeping, methods
from agents.llm.accounts.flows.base import InvalidInput, SignInFailed
from agents.llm.accounts.shapes import Auth, AuthMethod, Authorization, Authorize, Callback
from agents.plugins.hooks import sign_ins
from sessions.api.base import directory_of, wire
from sessions.api.described import answers

router = Router()


@router.get("/provider/auth", operation_id="provider.auth")
@answers(dict[str, list[AuthMethod]])
async def provider_auth(request: HttpRequest) -> HttpResponse:
    return wire(methods.listed(await sign_ins(directory_of(request))))


@router.post("/provider/{provider_id}/oauth/authorize", operation_id="provider.oauth.authorize")
@answers(Authorization)
async def authorize(request: HttpRequest, provider_id: str, body: Authorize) -> HttpResponse:
    """Begin a sign-in; `callback` waits for its end."""
    method = methods.method_at(provider_id, body.method, await sign_ins(directory_of(request)))
    if method is None:
        message = f"method: There is no sign-in {body.method} at {provider_id}."
        return _problem("BadRequest", provider_id, message=message, kind="Payload")
    try:
        attempt = await attempts.begin(provider_id, method, body.inputs)
    except InvalidInput as error:
        return _problem("ProviderAuthValidationFailed", provider_id, field=error.field, message=str(error))
    except SignInFailed as error:
        return _problem("ProviderAuthOauthCallbackFailed", provider_id, message=str(error))
    begun = attempt.begun
    return wire({"url": begun.url, "method": begun.mode, "instructions": begun.instructions})


@router.post("/provider/{provider_id}/oauth/callback", operation_id="provider.oauth.callback")
@answers(bool)
async def callback(request: HttpRequest, provider_id: str, body: Callback) -> HttpResponse:
    """Answers once the person has signed in. Only a plugin's sign-in may need a `code`."""
    found = await sign_ins(directory_of(request))
    attempt = attempts.of_provider(provider_id)
    if attempt is None or methods.method_at(provider_id, body.method, found) is not attempt.method:
        return _problem("ProviderAuthOauthMissing", provider_id)
    if attempt.begun.take is not None:
        if not body.code:
            return _problem("ProviderAuthOauthCodeMissing", provider_id)
        attempt.begun.take(body.code)
    try:
        await attempts.finish(attempt)
    except SignInFailed as error:
        return _problem("ProviderAuthOauthCallbackFailed", provider_id, message=str(error))
    return wire(True)


@router.put("/auth/{path:provider_id}", operation_id="auth.set")
@answers(bool)
async def auth_set(request: HttpRequest, provider_id: str, body: Body[Auth]) -> HttpResponse:
    """Keep an entry of `auth.json` as it is given."""
    try:
        await keeping.keep(provider_id, body.wire())
    except InvalidInput as error:
        message = f"{error.field}: {error}"
        return _problem("BadRequest", provider_id, field=error.field, message=message, kind="Payload")
    except SignInFailed as error:
        return _problem("BadRequest", provider_id, message=str(error))
    return wire(True)


@router.delete("/auth/{path:provider_id}", operation_id="auth.remove")
@answers(bool)
async def auth_remove(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Forget an entry; true also where there is none, as OpenCode answers."""
    try:
        await keeping.forget(provider_id)
    except SignInFailed as error:
        return _problem("BadRequest", provider_id, message=str(error))
    return wire(True)


def _problem(name: str, provider_id: str, **more: Any) -> HttpResponse:
    return wire({"name": name, "data": {"providerID": provider_id, **more}}, 400)

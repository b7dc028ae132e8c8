"""Signing in and out at a remote server by a click. The page shows the waiting, and reads how it went."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from agents.mcp.oauth import signing
from agents.mcp.pages.acts import ELSEWHERE, renewed
from agents.mcp.pages.views import row_of
from sessions.pages.respond import beside

GONE = "It is not running any longer."


@require_POST
async def sign_in(request: HttpRequest) -> HttpResponse:
    """Begin; the address for the person's browser is in the row then."""
    row = await row_of(request.POST)
    if row.connection is None:
        return beside(row.place, GONE)
    origin = request.build_absolute_uri("/").rstrip("/")
    try:
        await signing.begin(row.connection.server, origin)
    except signing.SignInFailed as error:
        return beside(row.place, str(error))
    return renewed(row.name, "waiting for you to sign in")


@require_POST
async def cancel(request: HttpRequest) -> HttpResponse:
    row = await row_of(request.POST)
    if row.connection is not None:
        await signing.cancel(row.connection.server)
    return renewed(row.name, "the sign-in is cancelled")


@require_POST
async def sign_out(request: HttpRequest) -> HttpResponse:
    row = await row_of(request.POST)
    if row.connection is None:
        return beside(row.place, GONE)
    try:
        forgotten = await signing.sign_out(row.connection.server)
    except signing.SignInFailed as error:
        return beside(row.place, str(error))
    return renewed(row.name, "signed out") if forgotten else beside(row.place, ELSEWHERE)

from __future__ import annotations

from typing import Any

from django.core.checks import run_checks
from django.http import HttpRequest, HttpResponse
from django.test import AsyncRequestFactory

from opencode_web.site.apps import GUARDED
from opencode_web.site.middleware import guarded


def found() -> list[str | None]:
    return [message.id for message in run_checks(tags=["security"])]


def test_every_host_is_let_in_only_behind_the_guard(settings: Any) -> None:
    assert found() == []
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != GUARDED]
    assert found() == ["opencode_web.E001"]
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, GUARDED]
    assert found() == ["opencode_web.E001"], "what stands before it would act on what it refuses"
    settings.ALLOWED_HOSTS = ["localhost"]
    assert found() == []


async def test_what_did_not_come_through_the_guard_is_refused() -> None:
    async def page(request: HttpRequest) -> HttpResponse:
        return HttpResponse("a page")

    request = AsyncRequestFactory().get("/")
    assert (await guarded(page)(request)).status_code == 403
    request.scope = {**request.scope, "principal": None}  # as the guard has it for what needs no login
    assert (await guarded(page)(request)).status_code == 200

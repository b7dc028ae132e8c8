"""The server as an application of Django, for its system checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Error, Tags, register

GUARDED = "opencode_web.site.middleware.guarded"


class SiteConfig(AppConfig):
    name = "opencode_web.site"
    label = "opencode_web_site"

    def ready(self) -> None:
        register(guard_is_there, Tags.security)


def guard_is_there(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[Error]:
    """Django may take every Host only behind the guard, which looks at it first."""
    if "*" not in settings.ALLOWED_HOSTS or settings.MIDDLEWARE[:1] == [GUARDED]:
        return []
    hint = f"Put {GUARDED} first in MIDDLEWARE, or name the hosts in ALLOWED_HOSTS."
    return [Error("ALLOWED_HOSTS lets in every host, and no guard is asked.", hint, id="opencode_web.E001")]

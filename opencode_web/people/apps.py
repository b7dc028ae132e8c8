from __future__ import annotations

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """Installed where a server has people (`OPENCODE_WEB_TEAM`)."""

    name = "opencode_web.people"
    label = "people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from opencode_web.people import known, sign_in
        from sessions.core import principal

        sign_in.listen()
        principal.register(known.person)

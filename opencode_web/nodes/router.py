"""Which rows a team shares: those of nodes and of people. All others are a node's own."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from opencode_web import team

LABELS = frozenset("opencode_nodes people auth contenttypes sessions account mfa socialaccount".split())


class Router:
    """One of Django's DATABASE_ROUTERS."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        return team.ALIAS if model._meta.app_label in LABELS else None

    def db_for_write(self, model: type[Model], **hints: Any) -> str | None:
        return self.db_for_read(model)

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return (app_label in LABELS) == (db == team.ALIAS)

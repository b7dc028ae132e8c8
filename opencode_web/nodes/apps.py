from __future__ import annotations

from functools import partial

from django.apps import AppConfig
from django.conf import settings

from sessions.core import gate


class NodesConfig(AppConfig):
    """Installed in the nodes and fronts of a team alone."""

    name = "opencode_web.nodes"
    label = "opencode_nodes"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from opencode_web.nodes import workspaces

        if settings.NODE:
            gate.register(partial(workspaces.gate, settings.NODE))

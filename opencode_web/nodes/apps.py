from __future__ import annotations

from django.apps import AppConfig


class NodesConfig(AppConfig):
    """Installed in the nodes and fronts of a team alone."""

    name = "opencode_web.nodes"
    label = "opencode_nodes"
    default_auto_field = "django.db.models.BigAutoField"

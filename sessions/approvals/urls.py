"""The URLs of this room; the pages' include them."""

from __future__ import annotations

from django.urls import path

from . import pages, rules

_REQUEST = "permissions/<str:request_id>"
_RULES = "p/<str:project_id>/rules"

urlpatterns = [
    path(f"{_REQUEST}/reply", pages.reply),
    path(f"{_REQUEST}/card", pages.whole),
    path(f"{_REQUEST}/file", pages.file),
    path(f"{_REQUEST}/rest", pages.rest),
    path(f"{_REQUEST}/edit", pages.edit),
    path(f"{_REQUEST}/preview", pages.preview),
    path(f"{_REQUEST}/matches", pages.matches),
    path(_RULES, rules.rules),
    path(f"{_RULES}/decisions", rules.decisions),
    path(f"{_RULES}/export.json", rules.export),
    path(f"{_RULES}/<int:rule_id>/revoke", rules.revoke),
    path(f"{_RULES}/<int:rule_id>/restore", rules.restore),
]

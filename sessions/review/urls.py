"""The review room's URLs; the pages' include them."""

from __future__ import annotations

from django.urls import path

from .pages import marks, panel, pieces, undo, verdicts

_SESSION = "p/<str:project_id>/s/<str:session_id>"

urlpatterns = [
    path(f"{_SESSION}/review", panel.panel),
    path(f"{_SESSION}/review/files", panel.files),
    path(f"{_SESSION}/review/file", pieces.file),
    path(f"{_SESSION}/review/image/<str:oid>", pieces.image),
    path(f"{_SESSION}/review/undo", verdicts.undo),
    path(f"{_SESSION}/review/redo", verdicts.redo),
    path(f"{_SESSION}/review/resolve", verdicts.resolve),
    path(f"{_SESSION}/review/mark", marks.mark),
    path(f"{_SESSION}/undo/<str:message_id>", undo.undo),
    path(f"{_SESSION}/redo", undo.redo),
]

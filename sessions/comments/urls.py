"""The URLs of this room; the pages' include them."""

from __future__ import annotations

from django.urls import path

from . import pages

_COMMENTS = "p/<str:project_id>/s/<str:session_id>/comments"

urlpatterns = [
    path(_COMMENTS, pages.add),
    path(f"{_COMMENTS}/form", pages.form),
    path(f"{_COMMENTS}/send", pages.send),
    path(f"{_COMMENTS}/<str:comment_id>", pages.edit),
    path(f"{_COMMENTS}/<str:comment_id>/remove", pages.remove),
]

"""The URLs of this room; the pages' include them."""

from __future__ import annotations

from django.urls import path

from . import pages

_STAGING = "p/<str:project_id>/s/<str:session_id>/staging"

urlpatterns = [
    path(f"{_STAGING}/files", pages.files),
    path(f"{_STAGING}/keep", pages.keep_picked),
    path(f"{_STAGING}/drop", pages.drop_picked),
    path(f"{_STAGING}/resolve", pages.settle),
    path(f"{_STAGING}/back/<str:operation_id>", pages.back),
    path(f"{_STAGING}/mode", pages.mode),
]

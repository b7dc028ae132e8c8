"""The URLs of this room; the pages' include them."""

from __future__ import annotations

from django.urls import path

from . import pages

_LOG = "p/<str:project_id>/log"

urlpatterns = [
    path(_LOG, pages.log),
    path(f"{_LOG}/calls/<str:session_id>/<str:part_id>/invert", pages.invert_call),
    path(f"{_LOG}/operations/<str:operation_id>/invert", pages.invert_operation),
]

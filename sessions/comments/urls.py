"""The URLs of this room; the pages' include them."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []

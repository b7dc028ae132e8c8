"""The review room's pages alone, without what other rooms add."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [path("", include("sessions.review.urls"))]

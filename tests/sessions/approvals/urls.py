"""This room's pages alone, and the agent's questions, which the inbox shows too."""

from __future__ import annotations

from django.urls import include, path

from sessions.pages import questions

urlpatterns = [
    path("", include("sessions.approvals.urls")),
    path("questions/<str:request_id>/reply", questions.reply),
    path("questions/<str:request_id>/card", questions.card),
]

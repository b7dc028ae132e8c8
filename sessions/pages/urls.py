"""The pages' URLs: `p` is a project, `s` a session."""

from __future__ import annotations

from django.urls import include, path

from . import changes, complete, conversation, home

SESSION = "p/<str:project_id>/s/<str:session_id>"

urlpatterns = [
    path("", home.home, name="home"),
    path("projects/open", home.open_project),
    path("p/<str:project_id>/", conversation.project),
    path("p/<str:project_id>/sessions", conversation.sessions),
    path("p/<str:project_id>/complete/commands", complete.commands),
    path("p/<str:project_id>/complete/files", complete.files),
    path("p/<str:project_id>/s/", changes.collection),
    path(SESSION, conversation.session),
    path(f"{SESSION}/messages", conversation.older),
    path(f"{SESSION}/parts/<str:part_id>/output", conversation.output),
    path(f"{SESSION}/complete/files", complete.files),
    path(f"{SESSION}/complete/commands", complete.commands),
    path(f"{SESSION}/prompt", changes.prompt),
    path(f"{SESSION}/inbox/<str:prompt_id>/withdraw", changes.withdraw),
    path(f"{SESSION}/abort", changes.abort),
    path(f"{SESSION}/rename", changes.rename),
    path(f"{SESSION}/archive", changes.archive),
    path(f"{SESSION}/delete", changes.delete),
    path(f"{SESSION}/restore", changes.restore),
    path("", include("sessions.review.urls")),
]

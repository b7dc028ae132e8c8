"""The pages' URLs: `p` is a project, `s` a session."""

from __future__ import annotations

from django.urls import include, path

from . import changes, compaction, complete, conversation, export, fork, home, inbox, plan, questions

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
    path(f"{SESSION}/parts/<str:part_id>/files/<int:number>", conversation.attachment),
    path(f"{SESSION}/complete/files", complete.files),
    path(f"{SESSION}/complete/commands", complete.commands),
    path(f"{SESSION}/prompt", changes.prompt),
    path(f"{SESSION}/inbox/<str:prompt_id>", inbox.whole),
    path(f"{SESSION}/inbox/<str:prompt_id>/edit", inbox.edit),
    path(f"{SESSION}/inbox/<str:prompt_id>/move", inbox.move),
    path(f"{SESSION}/inbox/<str:prompt_id>/switch", inbox.switch),
    path(f"{SESSION}/inbox/<str:prompt_id>/withdraw", inbox.withdraw),
    path(f"{SESSION}/inbox/<str:prompt_id>/again", inbox.again),
    path(f"{SESSION}/export", export.choice),
    path(f"{SESSION}/export.md", export.markdown),
    path(f"{SESSION}/export.json", export.data),
    path(f"{SESSION}/export.html", export.transcript),
    path(f"{SESSION}/fork", fork.fork),
    path(f"{SESSION}/fork/files", fork.files),
    path(f"{SESSION}/abort", changes.abort),
    path(f"{SESSION}/resume", changes.resume),
    path(f"{SESSION}/compact", compaction.compact),
    path(f"{SESSION}/rename", changes.rename),
    path(f"{SESSION}/archive", changes.archive),
    path(f"{SESSION}/delete", changes.delete),
    path(f"{SESSION}/restore", changes.restore),
    path(f"{SESSION}/plan/approve", plan.approve),
    path(f"{SESSION}/plan/keep", plan.keep),
    path("questions/<str:request_id>/reply", questions.reply),
    path("questions/<str:request_id>/reject", questions.reject),
    path("questions/<str:request_id>/card", questions.card),
    path("", include("sessions.review.urls")),
    path("", include("sessions.approvals.urls")),
    path("", include("sessions.timeline.urls")),
    path("", include("sessions.operations.urls")),
    path("", include("sessions.staging.urls")),
    path("", include("sessions.comments.urls")),
    path("", include("sessions.upkeep.urls")),
    path("", include("sessions.sharing.urls")),
    path("", include("sessions.transfer.urls")),
    path("", include("sessions.worktrees.urls")),
]
